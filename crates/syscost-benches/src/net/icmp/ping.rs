//! Shared: a socket that sends ICMP echo requests and receives the replies.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, connect, getpeername,
    getsockname, ipproto, send, socket_with, sockopt,
};
use syscost_harness::prelude::*;
use syscost_net::Wait;
use syscost_sys::network::only_echo_replies;

use crate::ipc::message::Message;
use crate::net::counters::Watch;
use crate::net::exchange::Link;
use crate::net::far_end::Family;
use crate::net::interface::InterfaceCounters;
use crate::net::waiting::Waiting;
use crate::witness::sockets;

/// Bytes of an ICMP echo header.
pub(crate) const HEAD: usize = 8;

/// Bytes of the longest IPv4 header, which raw sockets receive as well.
const MAX_IP_HEAD: usize = 60;

/// The kind of socket: one that an unprivileged program may use, or one that takes privileges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The kernel chooses the identifier and delivers only the replies to it.
    Ping,
    /// Receives all replies to this machine, and for IPv4 their whole packets.
    Raw,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Kind::Ping => "ping socket",
            Kind::Raw => "raw socket",
        }
    }

    const fn socket_type(self) -> SocketType {
        match self {
            Kind::Ping => SocketType::DGRAM,
            Kind::Raw => SocketType::RAW,
        }
    }
}

/// A socket that sends echo requests to the kernel at an address.
pub(crate) struct Pinger {
    socket: OwnedFd,
    kind: Kind,
    family: Family,
    waiting: Waiting,
    /// The identifier that distinguishes its replies from those to other programs.
    identifier: u16,
    sequence: u16,
    /// Answers whose sequence number was that of the last request.
    matched: u64,
    packet: Vec<u8>,
    counters: Watch,
}

impl Pinger {
    /// A pinger for messages of `size` bytes that waits up to `limit` for a reply; and the path to
    /// the far end.
    pub(crate) fn open(
        to: IpAddr,
        size: usize,
        limit: Option<Duration>,
    ) -> Result<(Self, InterfaceCounters), Failure> {
        let family = Family::of_address(to);
        let (socket, kind) = socket_for(family)?;
        let failed = |what: &str| {
            let what = format!("{what} a {} to {to}", kind.name());
            move |errno: Errno| Failure::of(&what, errno)
        };
        // Echoes have no ports, but the kernel does not report the peer of a socket connected to port 0.
        connect(&socket, &SocketAddr::new(to, 1)).map_err(failed("connect"))?;
        let own = getsockname(&socket).map_err(failed("ask for the address of"))?;
        let own = SocketAddr::try_from(own).map_err(failed("ask for the address of"))?;
        let pinger = Self {
            // A ping socket's port is the identifier of its echoes.
            identifier: match kind {
                Kind::Ping => own.port(),
                Kind::Raw => std::process::id() as u16,
            },
            waiting: Waiting::new(&socket, Wait::Block, RecvFlags::TRUNC, limit)?,
            socket,
            kind,
            family,
            sequence: 0,
            matched: 0,
            packet: vec![1; MAX_IP_HEAD + HEAD + size],
            counters: Watch::begin(),
        };
        Ok((pinger, InterfaceCounters::begin(own.ip(), to)))
    }

    /// Claims that replies have the numbers of their requests, and that the kernel counted them: on
    /// loopback both the requests and the replies.
    pub(crate) fn claim(&self, b: &mut Bencher, answered: u64, is_loopback: bool) {
        let what = "replies with the identifier and the sequence number of their request";
        b.claim_equal(what, answered as f64, self.matched as f64, "near end");
        let (claim, named, source) = ("type of the socket", self.kind.name(), "SO_TYPE");
        match sockopt::socket_type(&self.socket) {
            Ok(is) => {
                let mut kinds = [Kind::Ping, Kind::Raw].into_iter();
                let is = kinds.find(|kind| kind.socket_type() == is);
                let is = is.map_or("another socket", Kind::name);
                b.claim_equal(claim, named, is, source);
            }
            Err(cause) => b.claim_unobserved(claim, named, source, cause),
        }
        let names = match (self.family, is_loopback) {
            (Family::Ipv4, true) => ["Icmp.InEchos", "Icmp.OutEchoReps"],
            (Family::Ipv4, false) => ["Icmp.OutEchos", "Icmp.InEchoReps"],
            (Family::Ipv6, true) => ["Icmp6InEchos", "Icmp6OutEchoReplies"],
            (Family::Ipv6, false) => ["Icmp6OutEchos", "Icmp6InEchoReplies"],
        };
        for name in names {
            self.counters.claim_risen(b, name, answered);
        }
    }

    /// Reports where the requests go: there is no account of a far end that shows it.
    pub(crate) fn see(&self, b: &mut Bencher) {
        sockets::see_family(b, [&self.socket]);
        sockets::see_far_kernel(b, self.asked());
    }

    /// The address to which the kernel sends the requests.
    pub(crate) fn asked(&self) -> Option<IpAddr> {
        let address = getpeername(&self.socket).ok().flatten()?;
        Some(SocketAddr::try_from(address).ok()?.ip())
    }

    /// The sequence number and the payload of a packet, if it is a reply to this socket.
    fn answer<'p>(&self, packet: &'p [u8]) -> Option<(u16, &'p [u8])> {
        let echo = match (self.kind, self.family) {
            // The IPv4 header gives its own length, in words.
            (Kind::Raw, Family::Ipv4) => packet.get(4 * usize::from(packet.first()? & 0xF)..)?,
            (Kind::Raw, Family::Ipv6) | (Kind::Ping, _) => packet,
        };
        let (head, content) = echo.split_at_checked(HEAD)?;
        let is_ours = head[0] == reply(self.family)
            && head[1] == 0
            && head[4..6] == self.identifier.to_be_bytes();
        is_ours.then(|| (u16::from_be_bytes([head[6], head[7]]), content))
    }
}

/// Whether this machine permits sending echoes to an address of this family.
pub(crate) fn support(family: Family) -> Result<(), Unsupported> {
    socket_for(family)
        .map(drop)
        .map_err(|failure| Unsupported::new(failure.to_string()))
}

/// A ping socket, or else a raw one.
fn socket_for(family: Family) -> Result<(OwnedFd, Kind), Failure> {
    let (internet, protocol) = match family {
        Family::Ipv4 => (AddressFamily::INET, ipproto::ICMP),
        Family::Ipv6 => (AddressFamily::INET6, ipproto::ICMPV6),
    };
    let open = |kind: Kind| {
        let kind = kind.socket_type();
        socket_with(internet, kind, SocketFlags::CLOEXEC, Some(protocol))
    };
    let no_ping = match open(Kind::Ping) {
        Ok(socket) => return Ok((socket, Kind::Ping)),
        Err(errno) => errno,
    };
    match open(Kind::Raw) {
        Ok(socket) => {
            only_echo_replies(&socket, family == Family::Ipv6)?;
            Ok((socket, Kind::Raw))
        }
        Err(no_raw) => Err(Failure::Unsupported(format!(
            "no ping socket: {no_ping} (net.ipv4.ping_group_range must include this process's group); no raw socket: {no_raw} (needs CAP_NET_RAW)"
        ))),
    }
}

impl Link for Pinger {
    #[inline]
    fn send(&mut self, message: &mut Message) -> Result<(), Errno> {
        self.sequence = self.sequence.wrapping_add(1);
        let echo = message.headed_mut();
        echo[..4].copy_from_slice(&[request(self.family), 0, 0, 0]);
        echo[4..6].copy_from_slice(&self.identifier.to_be_bytes());
        echo[6..HEAD].copy_from_slice(&self.sequence.to_be_bytes());
        // The kernel computes the other checksums itself.
        if (self.kind, self.family) == (Kind::Raw, Family::Ipv4) {
            let sum = checksum(echo);
            echo[2..4].copy_from_slice(&sum.to_be_bytes());
        }
        let sent = retry_on_intr(|| send(&self.socket, message.headed(), SendFlags::NOSIGNAL));
        sent.map(drop)
    }

    #[inline]
    fn receive(&mut self, answer: &mut Message) -> Result<Option<usize>, Errno> {
        loop {
            let came = self
                .waiting
                .receive(self.socket.as_fd(), &mut self.packet)?;
            let Some(bytes) = came else {
                return Ok(None);
            };
            let packet = &self.packet[..bytes.min(self.packet.len())];
            // A raw socket receives the replies to other programs as well.
            let Some((sequence, content)) = self.answer(packet) else {
                continue;
            };
            let (bytes, room) = (content.len(), answer.bytes_mut());
            if bytes == room.len() {
                room.copy_from_slice(content);
            }
            self.matched += u64::from(sequence == self.sequence);
            return Ok(Some(bytes));
        }
    }

    fn end(&mut self) -> Result<(), Errno> {
        self.counters.end();
        Ok(())
    }
}

const fn request(family: Family) -> u8 {
    match family {
        Family::Ipv4 => 8,
        Family::Ipv6 => 128,
    }
}

const fn reply(family: Family) -> u8 {
    match family {
        Family::Ipv4 => 0,
        Family::Ipv6 => 129,
    }
}

/// The internet checksum (RFC 1071) of a packet whose checksum field is 0.
fn checksum(packet: &[u8]) -> u16 {
    let words = packet.chunks(2).map(|pair| match pair {
        [one, other] => u32::from(u16::from_be_bytes([*one, *other])),
        [last] => u32::from(*last) << 8,
        _ => 0,
    });
    let mut sum: u32 = words.sum();
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_packet_with_its_checksum_adds_up_to_nothing() {
        // The example of RFC 1071: these words add up to 0xddf2.
        assert_eq!(
            checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]),
            !0xddf2
        );
        let mut packet = vec![8, 0, 0, 0, 1, 2, 3, 4, 0xFF, 0xFE, 0xFD];
        let sum = checksum(&packet);
        packet[2..4].copy_from_slice(&sum.to_be_bytes());
        assert_eq!(checksum(&packet), 0);
    }

    #[test]
    fn only_answers_to_this_socket_are_taken() {
        for family in Family::ALL {
            let (mut pinger, _) = match Pinger::open(family.loopback(), 4, None) {
                Ok(pinger) => pinger,
                Err(reason) => {
                    println!("skipped: {reason}");
                    continue;
                }
            };
            assert_eq!(pinger.asked(), Some(family.loopback()));
            let ip_head = match (pinger.kind, family) {
                (Kind::Raw, Family::Ipv4) => vec![0x45; 20],
                _ => Vec::new(),
            };
            let [high, low] = pinger.identifier.to_be_bytes();
            let echo = |kind, identifier: [u8; 2]| {
                let head = [kind, 0, 9, 9, identifier[0], identifier[1], 0, 7];
                [&ip_head[..], &head, b"abcd"].concat()
            };
            let packet = echo(reply(family), [high, low]);
            assert_eq!(pinger.answer(&packet), Some((7, &b"abcd"[..])));
            assert_eq!(pinger.answer(&echo(request(family), [high, low])), None);
            assert_eq!(pinger.answer(&echo(reply(family), [high, low ^ 1])), None);
            assert_eq!(pinger.answer(&packet[..7]), None);
            // And the checksum that the kernel computes.
            let (mut message, mut answer) = (Message::new(4), Message::new(4));
            message.write(0x0403_0201, Pass::Evidence.into());
            pinger.send(&mut message).unwrap();
            assert_eq!(pinger.receive(&mut answer), Ok(Some(4)));
            assert_eq!((answer.bytes(), pinger.matched), (message.bytes(), 1));
        }
    }
}
