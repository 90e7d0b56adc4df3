//! A datagram goes to the far end over UDP, and comes back.
//!
//! ## Measures
//! From before a datagram is sent until the same has come back, between two connected sockets. Who the far end is (`path`, `cpus`) and how both ends wait
//! (`wait`) is as in `net.tcp.round_trip`, and so is the number: the median by batches, and each operation timed by itself as well.
//! ## Does not measure
//! One way: this is the full round trip. Datagrams one behind the other (`net.udp.bandwidth`).
//! ## Reading it
//! What TCP takes more, in the same minutes, is the price of its order and its acknowledgements. A datagram larger than the path's packets goes in fragments, and is lost with
//! any of them. On a path that may lose datagrams an answer is waited for 200 ms: an operation without one, and its batch, do not count; `lost_count`, `late_count` and
//! `duplicated_count` tell how often that, and answers that came later or again, happened in a process. On loopback nothing may be lost: there an answer that never comes ends
//! in the time limit, and there is no number.
//! ## Source
//! netperf `UDP_RR`; sockperf ping-pong; qperf `udp_lat`; lmbench `lat_udp`.

use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{RecvFlags, SendFlags, send};
use syscost_harness::prelude::*;
use syscost_net::Service;
use syscost_net::service::datagram;

use crate::ipc::message::Message;
use crate::net::exchange::{LOST_AFTER, Link};
use crate::net::far_end::{self, FarEnd, Path};
use crate::net::interface::Way;
use crate::net::setting::{self, Setting, Sizes};
use crate::net::waiting::Waiting;

pub(in crate::net) const BENCHMARK: Benchmark = Benchmark {
    id: "net.udp.round_trip",
    title: "Round trip over UDP",
    cases: Cases::Here(|| setting::cases(&SIZES)),
    quick: setting::is_plain,
    support: far_end::support,
    run,
    source: include_str!("round_trip.rs"),
    ..Benchmark::DEFAULT
};

/// The largest datagram has a little less than 64 KiB.
const SIZES: Sizes = Sizes {
    same: &[1, 64, 1 << 10, 16 << 10, 60 << 10],
    other: &[64, 60 << 10],
    spin: &[1, 64, 1 << 10, 16 << 10, 60 << 10],
    remote: &[1, 64, 1 << 10, 16 << 10],
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let setting = Setting::of(b.case())?;
    let is_lossless = setting.path.is_loopback();
    setting.measure(b, is_lossless, connected).map(drop)
}

/// The far end, this end, and the way between them.
fn connected(setting: &Setting, cpus: &[u32]) -> Result<(FarEnd, Datagrams, Way), Failure> {
    let Setting { path, wait, size } = setting;
    let (far, socket, limit) = match path {
        Path::Loopback(..) => {
            let (theirs, socket) = pair(path)?;
            let (wait, size) = (*wait, *size);
            let serve = move |theirs: &mut UdpSocket, _: &Stop| {
                Ok(datagram::echo(
                    &*theirs,
                    &mut vec![0; size],
                    wait,
                    &mut |_| false,
                )?)
            };
            // Who waits for an answer is not told by the kernel that there will be none.
            let hang_up = |theirs: &mut UdpSocket| drop(theirs.send(&[]));
            let far = FarEnd::partner(cpus, theirs, serve, hang_up)?;
            (far, socket, None)
        }
        Path::Remote(given) => {
            let service = Service::DatagramEcho {
                size: *size as u32,
                wait: *wait,
            };
            let (far, opened) = FarEnd::peer(given, &service)?;
            (far, opened.datagram()?, Some(LOST_AFTER))
        }
    };
    let failed = |error| Failure::of("ask for a socket's addresses", error);
    let own = socket.local_addr().map_err(failed)?;
    let there = socket.peer_addr().map_err(failed)?;
    let near = Datagrams {
        waiting: Waiting::new(&socket, *wait, RecvFlags::TRUNC, limit)?,
        socket,
    };
    Ok((far, near, Way::begin(own.ip(), there.ip())))
}

/// Two sockets of this machine that are connected to each other.
fn pair(path: &Path) -> Result<(UdpSocket, UdpSocket), Failure> {
    let make = || -> std::io::Result<(UdpSocket, UdpSocket)> {
        let any = SocketAddr::new(path.address(), 0);
        let (one, other) = (UdpSocket::bind(any)?, UdpSocket::bind(any)?);
        one.connect(other.local_addr()?)?;
        other.connect(one.local_addr()?)?;
        Ok((one, other))
    };
    make().map_err(|error| Failure::of("connect two UDP sockets", error))
}

/// The near end.
struct Datagrams {
    socket: UdpSocket,
    waiting: Waiting,
}

impl Link for Datagrams {
    #[inline]
    fn send(&mut self, message: &mut Message) -> Result<(), Errno> {
        let sent = retry_on_intr(|| send(&self.socket, message.bytes(), SendFlags::NOSIGNAL));
        sent.map(drop)
    }

    #[inline]
    fn receive(&mut self, answer: &mut Message) -> Result<Option<usize>, Errno> {
        self.waiting
            .receive(self.socket.as_fd(), answer.bytes_mut())
    }

    fn end(&mut self) -> Result<(), Errno> {
        // A datagram without content ends the service; that of another machine may have ended by itself.
        send(&self.socket, &[], SendFlags::NOSIGNAL).map(drop)
    }
}
