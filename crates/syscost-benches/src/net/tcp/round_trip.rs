//! A message goes to the far end over TCP and comes back.
//!
//! ## Measures
//! The time from before a message is sent until all of it has come back, over one connection with
//! TCP_NODELAY. The far end receives the whole message into its own buffer and sends those bytes
//! back. With `path=loopback` it is a process of this machine on the CPU that `cpus` names; with
//! `path=remote` it is the `syscost serve` that `--peer` names. Both ends wait the same way: asleep
//! in the receiving call (`wait=block`), asleep in epoll_wait(2) before it (`epoll`), or busy
//! polling without any sleep (`spin`). The value is the median of batches. Each operation is also
//! timed individually, by one reading of the clock between it and the next; the batches contain
//! these readings, and `overhead_bound_percent` bounds what they add.
//! ## Does not measure
//! Connecting (`net.tcp.connect`). One-way latency: the two ends share no clock, so this is the
//! full round trip, never halved. What a program does with the bytes: when times are taken, the
//! sender writes only the nonce, the first 8 bytes of each message, and compares it with the
//! answer's. Evidence is counted with every byte written and compared.
//! ## Interpretation
//! With `cpus=same` a round trip contains two context switches, whatever the protocol
//! (`switch.pipe`); on two CPUs it contains the wake-up of the other one, which only `spin` avoids.
//! Rounds of all rows are interleaved, so TCP, UDP (`net.udp.round_trip`) and ICMP
//! (`net.icmp.round_trip`, which the other kernel answers) are measured in the same minutes, and
//! their differences are due to the protocols. The difference from
//! `ipc.round_trip{via=unix_stream}` is the cost of the network layers. `p99_9_ns` needs 2,995
//! operations and `p99_99_ns` 29,956. Between two CPUs that sleep all of them count, and may have
//! two states (`fast_state_ns`, `slow_state_ns`); elsewhere only those on undisturbed cores, at
//! both ends: a far end judges its own core when asked, and `far_undisturbed_percent` is the share
//! of its answers that found it undisturbed. A `retransmits_count` other than 0 means that the
//! times include waiting for lost segments.
//! ## Source
//! netperf `TCP_RR`; sockperf ping-pong; qperf `tcp_lat`; lmbench `lat_tcp`.

use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::net::RecvFlags;
use syscost_harness::prelude::*;
use syscost_net::service::{TcpSide, stream};
use syscost_net::{Account, Service, Wait};
use syscost_sys::process;

use super::stream::Stream;
use crate::net::exchange::Caller;
use crate::net::far_end::{Family, FarEnd, OverNetwork, Path, Route, listen};
use crate::net::round_trip::{EchoSpec, Echoed, Ends, NetRoundTrip, Sizes};

pub(in crate::net) const BENCHMARK: Benchmark = Benchmark {
    title: "TCP round-trip latency",
    tags: "rtt, round-trip time, request/response, ping-pong, network latency, loopback, lat_tcp, \
        netperf TCP_RR, sockperf, qperf tcp_lat",
    revision: 2,
    comes_first: true,
    roles: roles!(
        NetRoundTrip {
            path: Path::Loopback,
            family: Family::Ipv4,
            cpus: Some(Placement::SAME),
            wait: Wait::Block,
            size: Bytes(64),
        } => Role::LoopbackRoundTrip,
        NetRoundTrip { path: Path::Remote, wait: Wait::Block, size: Bytes(64), .. } => Role::FarEndRoundTrip,
    ),
    ..Benchmark::by::<OverNetwork<NetRoundTrip>, Stream>()
};

const ALL: &[Bytes] = &[
    Bytes(1),
    Bytes(64),
    Bytes::kib(1),
    Bytes::kib(16),
    Bytes::kib(64),
];

impl Echoed for Stream {
    const SIZES: Sizes = Sizes {
        same: ALL,
        other: &[Bytes(64), Bytes::kib(64)],
        spin: ALL,
        remote: ALL,
    };

    const FLAGS: RecvFlags = RecvFlags::WAITALL;

    const IS_RELIABLE: bool = true;

    fn connected(spec: &EchoSpec, cpus: &[u32]) -> Result<Ends<Self>, Failure> {
        let (wait, size, tcp) = (spec.wait, spec.size, &spec.tcp);
        let (far, socket) = match &spec.route {
            Route::Loopback(..) => {
                let (listener, address) = listen(spec.route.address(), 1, tcp)?;
                let serve = move |listener: &mut TcpListener, _: &Stop| echo(listener, size, wait);
                // The kernel notifies a connected end when its partner is gone.
                let far = FarEnd::partner(cpus, listener, serve, |_| {})?;
                (
                    far,
                    syscost_net::socket::connect(address, tcp, process::patience())?,
                )
            }
            Route::Remote(given) => {
                let service = Service::StreamEcho {
                    size: size as u32,
                    wait,
                    tcp: tcp.clone(),
                };
                let (far, opened) = FarEnd::peer(given, &service)?;
                (far, opened.stream(tcp)?)
            }
        };
        let (near, interface) = Stream::over(socket, wait)?;
        Ok((far, near, interface))
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }

    fn claim(caller: &Caller<Self>, b: &mut Bencher, account: &Account) {
        let (sent, received) = caller.bytes();
        caller.link.claim(b, sent, received, account.tcp.as_ref());
    }
}

/// The partner: it serves one connection as `syscost serve` does.
fn echo(listener: &TcpListener, size: usize, wait: Wait) -> Result<Account, Failure> {
    let (socket, _) = listener.accept().tried("accept a connection")?;
    let account = stream::echo(&socket, &mut vec![0; size], wait, &mut |_| false)?;
    Ok(Account {
        tcp: TcpSide::of(&socket),
        ..account
    })
}
