//! Two threads that wake each other by semaphores, as the call-and-switch experiment timed them.
//!
//! ## Measures
//! Round trips of two threads, each of which posts the other's semaphore and waits for its own, less two
//! readings of the timer, divided by twice their number; after 200 round trips to warm up; the median of 7
//! such results, rounded to one decimal. Nothing is pinned, as published. How many round trips there were
//! is not published: here 500.
//! ## Does not measure
//! A switch from one thread to the other, unless both share a CPU: left alone, the scheduler puts them on
//! two, and the time is that of waking an idle CPU. The detail `on_one_cpu_percent` shows how often they
//! ended on one.
//! ## Interpretation
//! Compare with `switch.semaphore{between=threads,cpus=same}`, half of whose round trip is a switch.
//! ## Source
//! The call-and-switch experiment, part 2 (docs/studies/call-and-switch.md).

use std::thread;

use rustix::time::ClockId;
use syscost_harness::prelude::*;
use syscost_sys::counters::Usage;
use syscost_sys::cpu;
use syscost_sys::partner::Between;

use super::super::procedure::{OneCpu, Unpinned, median, now_ns, rounded, timer_ns};
use crate::switch::ping_pong::{Side, Wake};
use crate::switch::semaphore::Semaphores;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.call_and_switch.thread_switch",
    title: "Thread switch by semaphores, as published",
    tags: &["context switch", "semaphore", "ping-pong"],
    // The measuring thread sleeps until its partner answers, or finds that it has already answered.
    expect: &[at_most(Counter::VoluntarySwitches, 4.0)],
    run,
    source: include_str!("thread_switch.rs"),
    ..Benchmark::DEFAULT
};

/// Round trips before those that are timed.
const WARM_UPS: u64 = 200;

/// Round trips that are timed.
const ROUND_TRIPS: u64 = 500;

/// Number of results whose median is printed.
const RUNS: usize = 7;

/// What was observed in the runs.
#[derive(Default)]
struct Seen {
    on_one_cpu: OneCpu,
    voluntary_switches: u64,
    round_trips: u64,
    counted_by_partner: u64,
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let mut seen = Seen::default();
    let unpinned = Unpinned::new(b)?;
    b.as_published(RUNS as u64 * (WARM_UPS + ROUND_TRIPS), || {
        let runs = (0..RUNS).map(|_| one_run(&mut seen));
        let runs: Vec<f64> = runs.collect::<Result<_, _>>()?;
        Ok(rounded(median(&runs), 1))
    })?;
    drop(unpinned);
    b.claim_equal(
        "round trips that the other thread counted",
        seen.round_trips,
        seen.counted_by_partner,
        "both threads",
    );
    b.detail("on_one_cpu_percent", seen.on_one_cpu.percent());
    b.detail(
        "voluntary_switches_per_round_trip_count",
        seen.voluntary_switches as f64 / seen.round_trips as f64,
    );
    Ok(())
}

/// Half a round trip, in ns.
fn one_run(seen: &mut Seen) -> Result<f64, Failure> {
    let timer = timer_ns(ClockId::Monotonic);
    let semaphores = Semaphores::new(Between::Threads)?;
    let failed = |cause| Failure::of("use a semaphore", cause);
    let before = Usage::process()?;
    let (ns, other) = thread::scope(|scope| {
        let partner = scope.spawn(|| {
            let mut trips = 0;
            for _ in 0..WARM_UPS + ROUND_TRIPS {
                semaphores.sleep(Side::Partner)?;
                trips += 1;
                semaphores.wake(Side::Own)?;
            }
            Ok((trips, cpu::current()))
        });
        let trip = || {
            semaphores.wake(Side::Partner)?;
            semaphores.sleep(Side::Own)
        };
        for _ in 0..WARM_UPS {
            trip().map_err(failed)?;
        }
        let begun = now_ns(ClockId::Monotonic);
        for _ in 0..ROUND_TRIPS {
            trip().map_err(failed)?;
        }
        let ns = now_ns(ClockId::Monotonic) - begun;
        let partner = partner.join();
        let partner = partner.map_err(|_| Failure::Failed("the other thread panicked".into()))?;
        Ok::<_, Failure>((ns, partner.map_err(failed)?))
    })?;
    let (trips, its_cpu) = other;
    if let (Ok(own), Ok(its)) = (cpu::current(), its_cpu) {
        seen.on_one_cpu.note(own, its);
    }
    seen.voluntary_switches += (Usage::process()? - before).voluntary_switches;
    seen.round_trips += WARM_UPS + ROUND_TRIPS;
    seen.counted_by_partner += trips;
    Ok((ns - 2.0 * timer) / (2 * ROUND_TRIPS) as f64)
}
