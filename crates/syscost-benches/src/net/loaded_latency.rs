//! Round trip over TCP while streams fill the path.
//!
//! ## Measures
//! A message of 64 bytes goes to the far end, which answers with the same bytes, over a connection of its own, while `load` other connections carry a stream as fast
//! as they can to the far end (as `net.tcp.bandwidth{size=64K,direction=send,method=write}` does); `load=0` is without them. The value is the mean of the round
//! trips of a sample; the distribution is of all of them. `load_bytes_per_s` is what the streams moved meanwhile: in every sample each of them must have moved bytes.
//! ## Does not measure
//! Streams from the far end. On loopback the senders run on the CPU of the measuring task and the receivers on that of the far end (`cpus`), as they would on
//! machines of one CPU each: what is waited for is mostly a turn on these.
//! ## Reading it
//! What is added to `load=0` is the time that a message waits behind others: in the send queue of a network card, in the buffers of the slowest link (a path with large
//! buffers and a congestion control that fills them adds tens of milliseconds; see bufferbloat), or, on loopback, for a CPU.
//! ## Source
//! flent's rrul and tcp_upload tests; Gettys and Nichols, Bufferbloat (2011).

mod echo;

use std::time::Duration;

use syscost_harness::prelude::*;
use syscost_sys::topology::Relation;

use super::far_end::{self, Family, Path, remote_family};
use super::seats::Seats;
use super::tcp::bandwidth::{self, Direction, LARGE, Method, Setting, Streams, content, sink};
use super::workers::Until;
use echo::Echo;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "net.loaded_latency",
    title: "TCP round trip while streams fill the path",
    cases: Cases::Here(cases),
    support: far_end::support,
    run,
    source: include_str!("loaded_latency.rs"),
    ..Benchmark::DEFAULT
};

/// The parameter that says how many streams there are.
const LOAD: &str = "load";

/// Round trips whose calls are counted.
const AUDITED: u64 = 256;

/// What a sample takes at least: of time, and of round trips, which under load may take as long as all others' turns on a CPU. On a slow path
/// fewer of them are enough: their queue may hold each for a tenth of a second, and a row has a time limit.
const WINDOW: Duration = Duration::from_millis(5);
const ROUND_TRIPS: u64 = 10;
const LONG_WINDOW: Duration = Duration::from_millis(200);

/// A sample in which some stream moves nothing for so long fails.
const LIMIT: Duration = Duration::from_secs(2);

fn cases() -> Vec<Case> {
    let same = Placement::At(Relation::SameCpu);
    let here = Placement::here();
    let mut others = here
        .into_iter()
        .filter(|place| ![same, Placement::Free].contains(place));
    let other = others.next().unwrap_or(same);
    let local = [Path::LOOPBACK, Family::Ipv4.name(), other.name()];
    let remote = remote_family().map(|family| [Path::REMOTE, family.name(), ""]);
    let mut cases = Vec::new();
    for [path, family, place] in [local].into_iter().chain(remote) {
        for load in ["0", "1", "2"] {
            let params = [
                (Path::KEY, path),
                (Family::KEY, family),
                (Placement::KEY, place),
                (LOAD, load),
            ];
            let given = params.into_iter().filter(|(_, value)| !value.is_empty());
            cases.push(Case::new(given));
        }
    }
    cases
}

/// Whether so many round trips in so long are a sample.
fn is_enough(passed: Duration, round_trips: usize) -> bool {
    passed >= WINDOW && (round_trips as u64 >= ROUND_TRIPS || passed >= LONG_WINDOW)
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let case = b.case();
    let (path, family) = (Path::of(case)?, Family::of(case)?);
    let load = case.get(LOAD).parse::<usize>();
    let load = load.map_err(|_| Failure::Broken("has no number of streams".into()))?;
    let seats = Seats::of(&path, 1, b)?;
    let ends = path.own_ends();
    let calls = [
        together(Sysno::SENDTO, ends),
        together(Sysno::RECVFROM, ends),
        at_most(Counter::OtherSyscalls, 0.05),
    ];
    b.audit_apart(&calls, AUDITED, |messages| {
        let mut echo = Echo::start(&path, &seats[0], 0)?;
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
    };
    let mut streams = match load {
        0 => None,
        _ => Some(Streams::start(&setting, Until::Stopped)?),
    };
    let seed = b.random().u64(..);
    let mut echo = Echo::start(&setting.path, &seats[0], seed)?;
    if let Some(streams) = &mut streams {
        bandwidth::warm_up(streams, b.case_ns(), &setting)?;
    }
    let clock = *b.clock();
    let (mut laps, mut fewest) = (Vec::new(), load);
    b.observe(|| {
        let before = streams.as_ref().map(Streams::moved).unwrap_or_default();
        let (begun, first) = (clock.start(), laps.len());
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
                return Ok(of_sample.iter().sum::<f64>() / of_sample.len() as f64);
            }
        }
    })?;
    if b.is_timed() {
        laps.iter().for_each(|ns| b.record_single(*ns));
        let claim = "round trips in the distribution, of those that were made";
        b.claim_equal(claim, echo.round_trips(), b.singles(), "near end");
    }
    Seats::claim(&seats, b);
    let named = b.case().number(LOAD);
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
}
