//! Bytes per second of TCP streams that are going all the time, counted where they arrive.
//!
//! ## Measures
//! What the receivers take out of `streams` connections in a second. Each connection has a task at either end, a process of its own, which does nothing
//! but send or receive; the streams are going before a window begins and after it ends, so that neither connecting nor the growth of windows is part of
//! it. The sender hands over `size` bytes at a time: by sendto(2) (`method=write`), the same with MSG_ZEROCOPY, sendfile(2) from a file in memory, or
//! splice(2) from such a file through a pipe. With `direction=send` this end sends, with `receive` the far end. On `path=loopback` both ends are on this
//! machine, on CPUs that stand to each other as `cpus` says, and no two streams share one; with `remote` the far end is where `syscost serve` runs.
//! ## Does not measure
//! Reading what is sent from a disk, or using what came. Headers are not counted. In timed passes one word in 4 KiB is stamped with its place in the stream
//! and checked by the receiver; where evidence is counted, all are.
//! ## Reading it
//! `cpu_ns_per_byte` and `far_cpu_ns_per_byte` are the CPU time of the tasks at either end. On loopback much of the receiver's work in the kernel is done by the
//! sender's task. The evidence names what limits the streams, as the sender's kernel tells: the receiver's window (it does not read faster), the send
//! buffer, the sender (its CPU), or the network (everything else: the path, losses, the congestion control). Where the network is a bottleneck that is always
//! full, at a steady rate, it says so: shaped by the interface's own queueing discipline, which counts what it held back, or elsewhere by a shaper or a slow link,
//! which look the same from here; a queue stands before it, so that the round trip is many times the shortest one. That is known of streams that this end sends.
//! The evidence names the offloads of this end's interface, the congestion control, which
//! `syscost run --congestion NAME` chooses, and how many segments were sent again. On loopback the kernel copies what is sent by MSG_ZEROCOPY after
//! all (`zerocopy_copied_percent`): that the method is slower there than `write` says nothing of a network card. Senders and receivers that are
//! scheduled on CPUs of a virtual machine wake each other all the time, so that results differ from one second to the next.
//! ## Source
//! iperf3, nuttcp, netperf's TCP_STREAM and TCP_SENDFILE; lmbench `bw_tcp`; Linux Documentation/networking/msg_zerocopy.rst.

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
pub(in crate::net) use setting::{Direction, LARGE, content, sink};
pub(in crate::net) use streams::Streams;

use crate::net::far_end;
use crate::net::workers::Until;

pub(in crate::net) const BENCHMARK: Benchmark = Benchmark {
    id: "net.tcp.bandwidth",
    title: "Bandwidth of TCP streams",
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    cases: Cases::Here(cases::cases),
    quick: cases::is_plain,
    support: far_end::support,
    run,
    source: include_str!("bandwidth.rs"),
    ..Benchmark::DEFAULT
};

/// Messages whose calls are counted.
const AUDITED: u64 = 64;

/// How long a window is at least and at most: several turns of tasks that share a CPU.
const MIN_WINDOW: Duration = Duration::from_millis(5);
const MAX_WINDOW: Duration = Duration::from_millis(25);

/// A window has room for this many messages of each stream, unless that takes longer than this: on a slow path one arrives now and then.
const MESSAGES: f64 = 32.0;
const LONGEST_WINDOW: Duration = Duration::from_millis(250);

/// How long streams are given to reach their rate.
const WARM_UP: Duration = Duration::from_millis(60);
const WARM_UP_REMOTE: Duration = Duration::from_secs(2);

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let setting = Setting::of(b)?;
    measure(b, &setting)
}

/// Measures these streams; the liar has its own.
pub(crate) fn measure(b: &mut Bencher, setting: &Setting) -> Result<(), Failure> {
    audit(b, setting)?;
    let mut streams = Streams::start(setting, Until::Stopped)?;
    let window = warm_up(&mut streams, b.case_ns(), setting)?;
    b.observe(|| streams.window(window))?;
    if setting.path.is_loopback() {
        streams.workers().claim_cpus(b);
    }
    let outcome = streams.finish()?;
    claim(b, setting, &outcome);
    Ok(())
}

/// Counts the system calls of a stream of some messages.
fn audit(b: &mut Bencher, setting: &Setting) -> Result<(), Failure> {
    let mut one = setting.clone();
    one.seats.truncate(1);
    let calls = one.method.calls(one.sends_here(), one.receives_here());
    b.audit_apart(&calls, AUDITED, |messages| {
        let streams = Streams::start(&one, Until::Messages(messages))?;
        streams.finish().map(drop)
    })
}

/// Lets streams reach their rate; how long their windows are to be, where all samples of a case are to take so long.
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
    let room = Duration::try_from_secs_f64(messages / rate.max(1.0)).unwrap_or(LONGEST_WINDOW);
    Ok(window.max(room.min(LONGEST_WINDOW)))
}
