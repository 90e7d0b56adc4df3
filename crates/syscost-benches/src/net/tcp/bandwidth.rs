//! Bytes per second of TCP streams in steady state, counted by the receiver.
//!
//! ## Measures
//! How many bytes per second the receivers take out of `streams` connections. Each end of each
//! connection has its own process, which only sends or only receives; the streams run before a
//! window begins and after it ends, so that neither connecting nor the growth of TCP's windows is
//! part of it. The sender hands over `size` bytes at a time: by sendto(2) (`via=write`), by the
//! same with MSG_ZEROCOPY (`zerocopy`), by sendfile(2) from a file in memory, or by splice(2) from
//! such a file through a pipe. With `direction=send` this end sends, with `receive` the far end.
//! With `path=loopback` both ends are on this machine, on the pair of CPUs that `cpus` names, and
//! no two streams share a CPU; with `remote` the far end is where `syscost serve` runs.
//! ## Does not measure
//! Reading what is sent from a disk, or using what was received. Headers are not counted. When
//! times are taken, one word in 4 KiB is stamped with its position in the stream and checked by the
//! receiver; where evidence is counted, every word is.
//! ## Interpretation
//! `cpu_ns_per_byte` and `far_cpu_ns_per_byte` are the CPU time of the tasks at either end. On
//! loopback the sender's task does much of the receiver's work in the kernel. The evidence names
//! what limits the streams, as the sender's kernel reports it: the receiver's window (it does not
//! read faster), the send buffer, the sender (its CPU), or the network (everything else: the path,
//! losses, the congestion control). Where the network is a bottleneck that is always full, at a
//! steady rate, it says so: shaped by the queueing discipline of this end's interface, which counts
//! what it held back, or elsewhere by a shaper or a slow link, which look the same from here; a
//! standing queue makes the round trip many times the shortest one. That is known of streams that
//! this end sends. The evidence also names the offloads of this end's interface, the congestion
//! control, which `syscost run --congestion NAME` chooses, and the number of retransmitted
//! segments. On loopback the kernel copies even what is sent by MSG_ZEROCOPY
//! (`zerocopy_copied_percent`): that the method is slower there than `write` says nothing about a
//! network card. On virtual CPUs the scheduling of senders and receivers, which wake each other all
//! the time, makes results vary from one second to the next.
//! ## Source
//! iperf3, nuttcp, netperf's TCP_STREAM and TCP_SENDFILE; lmbench `bw_tcp`; Linux
//! Documentation/networking/msg_zerocopy.rst.

mod bottleneck;
mod cases;
mod claims;
mod ends;
mod limiter;
mod method;
mod sender;
mod setting;
mod streams;

use std::time::Duration;

use syscost_harness::prelude::*;

pub(in crate::net) use claims::claim;
pub(in crate::net) use method::Method;
pub(crate) use setting::Setting;
pub(in crate::net) use setting::{Direction, LARGE, STREAMS, content, sink};
use streams::Outcome;
pub(in crate::net) use streams::Streams;

use crate::net::far_end;
use crate::net::seats::Seats;
use crate::net::windows::Windows;
use crate::net::workers::Until;

pub(in crate::net) const BENCHMARK: Benchmark = Benchmark {
    id: "net.tcp.bandwidth",
    title: "TCP goodput: bulk throughput",
    tags: &[
        "tcp bandwidth",
        "network bandwidth",
        "network throughput",
        "congestion control",
        "sendfile",
        "zero copy",
        "msg_zerocopy",
        "loopback",
        "bw_tcp",
        "iperf",
        "iperf3",
        "nuttcp",
        "netperf TCP_STREAM",
        "netperf TCP_SENDFILE",
    ],
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    cases: Cases::Here(cases::cases),
    quick: cases::is_plain,
    full: cases::is_full,
    support: far_end::support,
    run,
    source: include_str!("bandwidth.rs"),
    ..Benchmark::DEFAULT
};

/// Messages whose calls are counted: fewer large ones to another machine, since the path may be
/// slow, but enough that one more, sent before the check whether the stream is over, does not matter.
const AUDITED: u64 = 64;
const MIN_AUDITED: u64 = 32;
const AUDITED_BYTES_REMOTE: u64 = 1 << 20;

/// Minimum and maximum length of a window: several time slices of tasks that share a CPU.
const MIN_WINDOW: Duration = Duration::from_millis(5);
const MAX_WINDOW: Duration = Duration::from_millis(25);

/// On a slow path a window is longer, to hold this many messages of each stream, up to this length.
const MESSAGES: f64 = 32.0;
const MAX_SLOW_WINDOW: Duration = Duration::from_millis(250);

/// How long streams may take to reach their rate.
const WARM_UP: Duration = Duration::from_millis(60);
const WARM_UP_REMOTE: Duration = Duration::from_secs(2);

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let setting = Setting::of(b)?;
    let outcome = measured(b, &setting)?;
    claims::claim_named(b, &outcome);
    Seats::claim(&setting.seats, b);
    Ok(())
}

/// Measures these streams; the liar has streams of its own.
pub(crate) fn measure(b: &mut Bencher, setting: &Setting) -> Result<(), Failure> {
    measured(b, setting).map(drop)
}

fn measured(b: &mut Bencher, setting: &Setting) -> Result<Outcome, Failure> {
    audit(b, setting)?;
    let mut streams = Streams::start(setting, Until::Stopped)?;
    let window = warm_up(&mut streams, b.case_ns(), setting)?;
    let mut windows = Windows::default();
    b.observe(|| windows.add(window, || streams.window(window)))?;
    if setting.path.is_loopback() {
        streams.workers().claim_cpus(b);
    }
    let outcome = streams.finish()?;
    claim(b, setting, &outcome);
    if let Some(usage) = &outcome.usage {
        windows.claim(b, usage, outcome.received.bytes);
    }
    Ok(outcome)
}

/// Counts the system calls of a stream of some messages.
fn audit(b: &mut Bencher, setting: &Setting) -> Result<(), Failure> {
    let mut one = setting.clone();
    one.seats.truncate(1);
    let calls = one.method.calls(one.sends_here(), one.receives_here());
    let audited = match one.path.is_loopback() {
        true => AUDITED,
        false => (AUDITED_BYTES_REMOTE / one.size as u64).clamp(MIN_AUDITED, AUDITED),
    };
    b.audit_apart(&calls, audited, |messages| {
        let streams = Streams::start(&one, Until::Messages(messages))?;
        streams.finish().map(drop)
    })
}

/// Lets streams reach their rate; returns the length of their windows, for samples of `case_ns`.
pub(in crate::net) fn warm_up(
    streams: &mut Streams,
    case_ns: f64,
    setting: &Setting,
) -> Result<Duration, Failure> {
    let window = Duration::from_nanos(case_ns as u64).clamp(MIN_WINDOW, MAX_WINDOW);
    let limit = match setting.path.is_loopback() {
        true => WARM_UP,
        false => WARM_UP_REMOTE,
    };
    let rate = streams.warm_up(window, limit)?;
    let messages = MESSAGES * (setting.size * setting.seats.len()) as f64;
    let room = Duration::try_from_secs_f64(messages / rate.max(1.0)).unwrap_or(MAX_SLOW_WINDOW);
    Ok(window.max(room.min(MAX_SLOW_WINDOW)))
}
