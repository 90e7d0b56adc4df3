//! TCP round trip while other streams fill the path.
//!
//! ## Measures
//! The round trip of a 64-byte message over a dedicated connection, while `streams` other connections
//! stream to the far end as fast as possible (as
//! `net.tcp.bandwidth{size=64K,direction=send,via=write}` does); `streams=0` is the round trip without
//! them. The value is the mean of the round trips of a sample; the distribution is of all of them.
//! `load_bytes_per_s` is the streams' bandwidth meanwhile: in every sample each stream must have
//! moved bytes.
//! ## Does not measure
//! Streams from the far end. On loopback the senders run on the CPU of the measuring task and the
//! receivers on that of the far end (`cpus`), as they would on machines with one CPU each: most of
//! the time is spent waiting for a turn on these CPUs.
//! ## Interpretation
//! The excess over `streams=0` is the time that a message waits behind others: in the send queue of a
//! network card, in the buffers of the bottleneck link (a path with large buffers and a congestion
//! control that fills them adds tens of milliseconds: bufferbloat), or, on loopback, for a CPU.
//! ## Source
//! flent's rrul and tcp_upload tests; Gettys and Nichols, Bufferbloat (2011).

mod echo;

use std::time::{Duration, Instant};

use syscost_harness::prelude::*;

use super::far_end::{self, Family, Path, Route, remote_family};
use super::seats::Seats;
use super::setting;
use super::tcp::bandwidth::{self, Direction, LARGE, Method, Setting, Streams, content, sink};
use super::workers::Until;
use crate::implied::{Implied, Shares};
use crate::ipc::setting::same_and_nearest;
use crate::net::tcp::stream::options;
use echo::Echo;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "net.loaded_latency",
    title: "TCP round-trip latency under load",
    tags: &[
        "bufferbloat",
        "loaded latency",
        "working latency",
        "queueing delay",
        "rtt",
        "flent",
    ],
    cases: Cases::Here(cases),
    support: far_end::support,
    run,
    source: include_str!("loaded_latency.rs"),
    ..Benchmark::DEFAULT
};

/// The key of the parameter with the number of streams.
const STREAMS: &str = "streams";

/// The numbers of streams.
const LOADS: [usize; 3] = [0, 1, 2];

/// Round trips whose calls are counted.
const AUDITED: u64 = 256;

/// Minimum time and minimum round trips of a sample: under load a round trip may take as long as
/// the time slices of all other tasks on the CPU.
const MIN_WINDOW: Duration = Duration::from_millis(5);
const MIN_ROUND_TRIPS: usize = 10;
/// From this time on fewer round trips are enough: the queue of a slow path may hold each for a
/// tenth of a second, and a row has a time limit.
const LONG_WINDOW: Duration = Duration::from_millis(200);

/// A sample in which some stream moves nothing for this long fails its claim.
const LIMIT: Duration = Duration::from_secs(2);

fn cases(here: &Here) -> Vec<Case> {
    let nearest = same_and_nearest().pop();
    let local = (Path::LOOPBACK, Family::Ipv4, nearest);
    let remote = remote_family(here).map(|family| (Path::REMOTE, family, None));
    let paths = [local].into_iter().chain(remote);
    let cases = paths.flat_map(|(path, family, placement)| {
        LOADS.map(|load| setting::case(path, family, placement, [(STREAMS, load.to_string())]))
    });
    cases.collect()
}

/// The number of streams that fill the path of a case.
fn load(case: &Case) -> Result<usize, Failure> {
    let name = case.get(STREAMS);
    let load = LOADS.into_iter().find(|load| load.to_string() == name);
    load.ok_or_else(|| case.unknown(STREAMS))
}

/// Whether this many round trips in this time suffice for a sample.
fn is_enough(passed: Duration, round_trips: usize) -> bool {
    passed >= MIN_WINDOW && (round_trips >= MIN_ROUND_TRIPS || passed >= LONG_WINDOW)
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let case = b.case();
    let (path, family) = (Route::of(case, b.targets())?, Family::of(case)?);
    let load = load(case)?;
    let seats = Seats::of(&path, 1, b)?;
    let ends = path.own_ends();
    let calls = [
        together(Sysno::SENDTO, ends),
        together(Sysno::RECVFROM, ends),
        at_most(Counter::OtherSyscalls, 0.05),
    ];
    let tcp = options(b.targets());
    b.audit_apart(&calls, AUDITED, |messages| {
        let mut echo = Echo::start(&path, &tcp, &seats[0], 0)?;
        (0..messages).try_for_each(|_| echo.round_trip())?;
        echo.finish().map(drop)
    })?;
    let setting = Setting {
        family,
        path,
        direction: Direction::Send,
        method: Method::Write,
        size: LARGE,
        seats: seats.iter().cycle().take(load).cloned().collect(),
        content: content(b),
        sink,
        tcp,
    };
    let start = || Streams::start(&setting, Until::Stopped);
    let mut streams = (load > 0).then(start).transpose()?;
    let seed = b.random().u64(..);
    let mut echo = Echo::start(&setting.path, &setting.tcp, &seats[0], seed)?;
    if let Some(streams) = &mut streams {
        bandwidth::warm_up(streams, b.case_ns(), &setting)?;
    }
    let clock = *b.clock();
    let (mut laps, mut fewest) = (Vec::new(), load);
    let mut implied = Implied::default();
    b.observe(|| {
        let before = streams.as_ref().map(Streams::moved).unwrap_or_default();
        let (begun, first) = (clock.start(), laps.len());
        let (since, trips) = (Instant::now(), echo.round_trips());
        loop {
            let sent = clock.start();
            echo.round_trip()?;
            let came = clock.stop().ticks;
            laps.push(clock.to_ns(came - sent));
            let passed = Duration::from_nanos(clock.to_ns(came - begun) as u64);
            if !is_enough(passed, laps.len() - first) {
                continue;
            }
            let moving = streams
                .as_ref()
                .map_or(0, |streams| streams.going_on(&before));
            if moving == load || passed > LIMIT {
                fewest = fewest.min(moving);
                let of_sample = &laps[first..];
                let mean = of_sample.iter().sum::<f64>() / of_sample.len() as f64;
                implied.note(mean * (echo.round_trips() - trips) as f64, since);
                return Ok(mean);
            }
        }
    })?;
    implied.claim(b, Shares::WHOLE);
    if b.is_timed() {
        laps.iter().for_each(|ns| b.record_single(*ns));
        let claim = "round trips in the distribution, of those that were made";
        b.claim_equal(claim, echo.round_trips(), b.singles(), "near end");
    }
    Seats::claim(&seats, b);
    let named = b.case().number(STREAMS);
    let claim = "streams that moved bytes in every sample, by the row's name";
    b.claim_equal(claim, named, fewest as u64, "both ends");
    if let Some(streams) = streams {
        if setting.path.is_loopback() {
            streams.workers().claim_cpus(b);
        }
        let outcome = streams.finish()?;
        bandwidth::claim(b, &setting, &outcome);
        if let Some(usage) = outcome.usage.filter(|_| b.is_timed()) {
            let rate = usage.bytes as f64 * 1e9 / usage.passed_ns.max(1) as f64;
            b.detail("load_bytes_per_s", rate);
        }
    }
    echo.claim(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_ten_round_trips_or_those_of_a_fifth_of_a_second() {
        let after = |ms, round_trips| is_enough(Duration::from_millis(ms), round_trips);
        assert!(!after(4, 100) && !after(5, 9) && !after(199, 9));
        assert!(after(5, 10) && after(200, 1));
    }

    #[test]
    fn a_load_that_no_row_has_is_a_defect() {
        assert!(cases(&Here::plain()).iter().all(|case| load(case).is_ok()));
        for wrong in ["", "many", "3", "01"] {
            let case = Case::new([(STREAMS, wrong)]);
            assert!(matches!(load(&case), Err(Failure::Broken(_))), "{wrong}");
        }
    }
}
