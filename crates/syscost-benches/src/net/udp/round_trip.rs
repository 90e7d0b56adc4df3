//! A datagram goes to the far end over UDP and comes back.
//!
//! ## Measures
//! The time from before a datagram is sent until the same datagram has come back, between two
//! connected sockets. The far end (`path`, `cpus`), how both ends wait (`wait`) and the value are
//! as in `net.tcp.round_trip`: the median of batches, with each operation timed individually as
//! well.
//! ## Does not measure
//! One-way latency: this is the full round trip. Datagrams sent back to back (`net.udp.bandwidth`).
//! ## Interpretation
//! What TCP takes in addition, in the same minutes, is the price of ordering and acknowledgements. A
//! datagram larger than the path's MTU is sent in fragments and is lost with any of them. On a path
//! that may lose datagrams the near end waits 200 ms for an answer: an operation without one does
//! not count, nor does its batch. `lost_count`, `late_count` and `duplicated_count` say how often
//! in a process an answer was missing, arrived late, or arrived twice. On loopback nothing may be
//! lost: an answer that never comes ends in the time limit, and there is no value.
//! ## Source
//! netperf `UDP_RR`; sockperf ping-pong; qperf `udp_lat`; lmbench `lat_udp`.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{RecvFlags, SendFlags, send};
use syscost_harness::prelude::*;
use syscost_net::Service;
use syscost_net::service::datagram;

use crate::ipc::message::Message;
use crate::net::exchange::{LOST_AFTER, Link};
use crate::net::far_end::{FarEnd, OverNetwork, Route};
use crate::net::interface::InterfaceCounters;
use crate::net::round_trip::{EchoSpec, Echoed, Ends, NetRoundTrip, Sizes};
use crate::net::waiting::Waiting;

pub(in crate::net) const BENCHMARK: Benchmark = Benchmark {
    title: "UDP round-trip latency",
    tags: "rtt, round-trip time, request/response, ping-pong, network latency, loopback, lat_udp, \
        netperf UDP_RR, sockperf, qperf udp_lat",
    revision: 2,
    comes_first: true,
    ..Benchmark::by::<OverNetwork<NetRoundTrip>, Datagrams>()
};

/// The maximum payload of a datagram is a little less than 64 KiB.
const LARGEST: Bytes = Bytes::kib(60);

const ALL: &[Bytes] = &[Bytes(1), Bytes(64), Bytes::kib(1), Bytes::kib(16), LARGEST];

impl Echoed for Datagrams {
    const SIZES: Sizes = Sizes {
        same: ALL,
        other: &[Bytes(64), LARGEST],
        spin: ALL,
        remote: &[Bytes(1), Bytes(64), Bytes::kib(1), Bytes::kib(16)],
    };

    const FLAGS: RecvFlags = RecvFlags::TRUNC;

    const IS_RELIABLE: bool = false;

    fn connected(spec: &EchoSpec, cpus: &[u32]) -> Result<Ends<Self>, Failure> {
        let (wait, size) = (spec.wait, spec.size);
        let (far, socket, limit) = match &spec.route {
            Route::Loopback(..) => {
                let (theirs, socket) = pair(spec.route.address())?;
                let serve = move |theirs: &mut UdpSocket, _: &Stop| {
                    let mut buffer = vec![0; size];
                    Ok(datagram::echo(&*theirs, &mut buffer, wait, &mut |_| false)?)
                };
                // The kernel does not notify a waiting end when its partner is gone; an empty
                // datagram does.
                let wake_waiters = |theirs: &mut UdpSocket| drop(theirs.send(&[]));
                let far = FarEnd::partner(cpus, theirs, serve, wake_waiters)?;
                (far, socket, None)
            }
            Route::Remote(given) => {
                let size = size as u32;
                let (far, opened) = FarEnd::peer(given, &Service::DatagramEcho { size, wait })?;
                (far, opened.datagram()?, Some(LOST_AFTER))
            }
        };
        let interface = InterfaceCounters::of(&socket)?;
        let near = Self {
            waiting: Waiting::new(&socket, wait, Self::FLAGS, limit)?,
            socket,
        };
        Ok((far, near, interface))
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Two sockets of this machine that are connected to each other.
pub(super) fn pair(own: IpAddr) -> Result<(UdpSocket, UdpSocket), Failure> {
    let make = || -> std::io::Result<(UdpSocket, UdpSocket)> {
        let any = SocketAddr::new(own, 0);
        let (one, other) = (UdpSocket::bind(any)?, UdpSocket::bind(any)?);
        one.connect(other.local_addr()?)?;
        other.connect(one.local_addr()?)?;
        Ok((one, other))
    };
    make().tried("connect two UDP sockets")
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
        // An empty datagram ends the service. A service on another machine may have ended by itself.
        send(&self.socket, &[], SendFlags::NOSIGNAL).map(drop)
    }
}
