//! A message goes to the far end over TCP, and comes back.
//!
//! ## Measures
//! From before a message is sent until all of it has come back, over one connection with TCP_NODELAY. The far end receives the whole message into
//! its own buffer and sends those bytes back. `path=loopback`: it is a process of this machine, on the CPU that `cpus` names; `path=remote`: it is
//! the `syscost serve` that `--peer` names. Both ends wait alike: asleep in the receiving call (`wait=block`), asleep in epoll_wait(2) before it (`epoll`),
//! or not at all: they try to receive until something is there (`spin`, busy polling). The number is the median by batches. Every operation is
//! also timed by itself, by one reading of the clock between it and the next, which the batches contain: `overhead_bound_percent` bounds what that adds.
//! ## Does not measure
//! Connecting (`net.tcp.connect`). One way: no clock is shared with the far end, so this is the full round trip, never halved. What a program does with
//! the bytes: of each message the sender writes 8 bytes, its nonce, and compares them with the answer's. Evidence is counted with every byte written and compared.
//! ## Reading it
//! On the `same` CPU two switches are in it, whatever the protocol (`switch.pipe`); on two CPUs the wake-up of the other one, which only `spin` does
//! without. Rounds of all rows are interleaved, so those of TCP, UDP (`net.udp.round_trip`) and ICMP (`net.icmp.round_trip`, which the other kernel
//! answers) are of the same minutes, and their differences are the protocols'. Beside `ipc.round_trip{via=unix_stream}` stands what the network's layers cost.
//! `p99_9_ns` is told from 2,995 operations on and `p99_99_ns` from 29,956 on, of which only those on cores of our own count, at both ends (of a far
//! end that looks at its core; `far_undisturbed_percent` is the share of its looks that found it so). `retransmits_count` other than 0 says that
//! waits for lost segments are in the numbers.
//! ## Source
//! netperf `TCP_RR`; sockperf ping-pong; qperf `tcp_lat`; lmbench `lat_tcp`.

use std::net::TcpListener;

use syscost_harness::prelude::*;
use syscost_net::service::{TcpSide, stream};
use syscost_net::{Account, Service, Wait};

use super::stream::{Stream, options};
use crate::net::exchange::Exchange;
use crate::net::far_end::{self, FarEnd, PATIENCE, Path, listen};
use crate::net::interface::Way;
use crate::net::setting::{self, Setting, Sizes};

pub(in crate::net) const BENCHMARK: Benchmark = Benchmark {
    id: "net.tcp.round_trip",
    title: "Round trip over TCP",
    cases: Cases::Here(|| setting::cases(&SIZES)),
    quick: setting::is_plain,
    support: far_end::support,
    run,
    source: include_str!("round_trip.rs"),
    ..Benchmark::DEFAULT
};

const SIZES: Sizes = Sizes {
    same: &[1, 64, 1 << 10, 16 << 10, 64 << 10],
    other: &[64, 64 << 10],
    spin: &[1, 64, 1 << 10, 16 << 10, 64 << 10],
    remote: &[1, 64, 1 << 10, 16 << 10, 64 << 10],
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let setting = Setting::of(b.case())?;
    setting.path.announce(b)?;
    setting.expect(b);
    let exchange = Exchange::new(b, setting.size, true);
    let (caller, account) = b.together(setting.path.placement(), |cpus| {
        let (far, near, way) = connected(&setting, cpus)?;
        Ok(far.led_by(exchange.over(near, way)))
    })?;
    caller.claim(b, &account);
    let bytes = setting.size as u64;
    let (sent, received) = (caller.tally.sent * bytes, caller.tally.answered * bytes);
    caller.link.claim(b, sent, received, account.tcp.as_ref());
    Ok(())
}

/// The far end, this end, and the way between them.
fn connected(setting: &Setting, cpus: &[u32]) -> Result<(FarEnd, Stream, Way), Failure> {
    let Setting { path, wait, size } = setting;
    let tcp = options();
    let (far, socket) = match path {
        Path::Loopback(..) => {
            let (listener, address) = listen(path.address(), 1, &tcp)?;
            let (wait, size) = (*wait, *size);
            let serve = move |listener: &mut TcpListener, _: &Stop| echo(listener, size, wait);
            // Who is connected learns from the kernel that the other one is gone.
            let far = FarEnd::partner(cpus, listener, serve, |_| {})?;
            (far, syscost_net::socket::connect(address, &tcp, PATIENCE)?)
        }
        Path::Remote(given) => {
            let service = Service::StreamEcho {
                size: *size as u32,
                wait: *wait,
                tcp: tcp.clone(),
            };
            let (far, opened) = FarEnd::peer(given, &service)?;
            (far, opened.stream(&tcp)?)
        }
    };
    let (near, way) = Stream::over(socket, *wait)?;
    Ok((far, near, way))
}

/// What the partner does: as `syscost serve` does for one connection.
fn echo(listener: &TcpListener, size: usize, wait: Wait) -> Result<Account, Failure> {
    let accepted = listener.accept();
    let (socket, _) = accepted.map_err(|error| Failure::of("accept a connection", error))?;
    let account = stream::echo(&socket, &mut vec![0; size], wait, &mut |_| false)?;
    Ok(Account {
        tcp: TcpSide::of(&socket),
        ..account
    })
}
