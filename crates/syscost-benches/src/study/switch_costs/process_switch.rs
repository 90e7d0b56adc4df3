//! Parent and child that pass a byte back and forth, by elapsed time, by CPU time, and their
//! difference, as the switch-costs experiment took it.
//!
//! ## Measures
//! Round trips through two pipes from before the parent's first write to after its last read, per round
//! trip: `clock=monotonic` by elapsed time, `clock=cpu_time` by the CPU time of the parent;
//! `clock=difference` is a run of each, their difference halved. Nothing is pinned, as published. Published
//! are 100 000 round trips; here 2000, so that a row has results of several processes in its time. That does
//! not change a result, which is per round trip: the start of the child and the first round trip, which
//! comes before as published, are not timed.
//! ## Does not measure
//! A switch. The CPU time of the parent includes the kernel's part of its own writes, reads and switches,
//! so that these are subtracted; and it does not include the child's time, so that everything the
//! child does remains. The details show how much of the difference that is, and how much of the
//! parent's CPU time was spent in the kernel
//! (`parent_kernel_percent`, by getrusage). CPU time is counted in ns by the scheduler (`cpu_clock_smallest_step_ns`);
//! on systems that count it by the tick it could not be used at all.
//! ## Interpretation
//! Compare with half of `switch.pipe{between=processes,cpus=same}`.
//! ## Source
//! The switch-costs experiment, "Cost of process switching" (docs/studies/switch-costs.md).

use std::sync::Arc;

use rustix::time::ClockId;
use syscost_harness::prelude::*;
use syscost_sys::counters::Usage;
use syscost_sys::cpu;
use syscost_sys::partner::{Between, Partner, Shared, Slot};

use super::super::cpu_time::CpuTime;
use super::super::procedure::{OneCpu, Unpinned, now_ns};
use super::super::unoptimised::InMemory;
use super::{By, CPU_TIME, cpu_clock_step_ns};
use crate::switch::ping_pong::{Side, Wake};
use crate::switch::pipe::Pipes;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.switch_costs.process_switch",
    title: "Process switch, as published",
    tags: &["context switch", "ping-pong", "pipe"],
    cases: Cases::Grid(&[("clock", By::NAMES)]),
    // CPU time is not always less than elapsed time: it comes from another run.
    quantity: Quantity::Level,
    // The parent sleeps for each answer, or finds that it has already come; nothing else makes it wait.
    expect: &[at_most(Counter::VoluntarySwitches, 1.1)],
    // It is not known beforehand where unpinned tasks run.
    disregards_neighbours: |_| true,
    run,
    source: include_str!("process_switch.rs"),
    ..Benchmark::DEFAULT
};

/// A fiftieth of those published.
const ROUND_TRIPS: u64 = 2_000;

/// What the child reports when it is done.
#[derive(Debug, Clone, Copy)]
struct Report {
    answered: u64,
    cpu_time_ns: f64,
    switches: u64,
    cpu: u32,
}

/// What was observed in all runs, whichever clock timed them.
#[derive(Default)]
struct Seen {
    runs: u64,
    answered: u64,
    elapsed_ns: f64,
    parent_ns: f64,
    parent: CpuTime,
    child_ns: f64,
    switches: u64,
    on_one_cpu: OneCpu,
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let by = By::of(b.case())?;
    let unpinned = Unpinned::new(b)?;
    let cpus = b.allowed().to_vec();
    let mut seen = Seen::default();
    b.as_published(by.runs() * ROUND_TRIPS, || {
        by.result(0.5, |clock| round_trips(clock, &cpus, &mut seen))
    })?;
    drop(unpinned);
    let round_trips = (seen.runs * ROUND_TRIPS) as f64;
    b.claim_equal(
        "answers per round trip",
        1.0,
        seen.answered as f64 / round_trips,
        "child",
    );
    b.detail("placed_on_one_cpu_percent", seen.on_one_cpu.percent());
    b.detail(
        "switches_per_round_trip_count",
        seen.switches as f64 / round_trips,
    );
    b.detail("parent_cpu_time_ns", seen.parent_ns / round_trips);
    b.detail("parent_kernel_percent", seen.parent.kernel_percent());
    b.detail("child_cpu_time_ns", seen.child_ns / round_trips);
    let waiting_ns = seen.elapsed_ns - seen.parent_ns;
    b.detail(
        "child_part_of_difference_percent",
        100.0 * seen.child_ns / waiting_ns,
    );
    b.detail(
        "elapsed_without_cpu_time_ns",
        (waiting_ns - seen.child_ns) / round_trips,
    );
    if let Some(step_ns) = cpu_clock_step_ns() {
        b.detail("cpu_clock_smallest_step_ns", step_ns);
    }
    Ok(())
}

/// The time of a round trip by this clock, in ns.
fn round_trips(clock: ClockId, cpus: &[u32], seen: &mut Seen) -> Result<f64, Failure> {
    let failed = |cause| Failure::of("pass a byte through a pipe", cause);
    let pipes = Arc::new(Pipes::open()?);
    let report = Shared::new(Slot::default())?;
    let (theirs, said) = (Arc::clone(&pipes), report.clone());
    let child = Partner::start(Between::Processes, cpus, move || -> Result<(), Failure> {
        said.put(answer(&theirs)?);
        Ok(())
    })?;
    let trip = || {
        pipes.wake(Side::Partner)?;
        pipes.sleep(Side::Own)
    };
    trip().map_err(failed)?;
    let is_elapsed = clock == ClockId::Monotonic;
    let other = if is_elapsed {
        CPU_TIME
    } else {
        ClockId::Monotonic
    };
    let before = (Usage::thread()?, CpuTime::now()?);
    let mut number = InMemory::new(0_u64);
    let begun_other = now_ns(other);
    let begun = now_ns(clock);
    while number.get() < ROUND_TRIPS {
        trip().map_err(failed)?;
        number.set(number.get() + 1);
    }
    let ns = now_ns(clock) - begun;
    let other_ns = now_ns(other) - begun_other;
    let used = Usage::thread()? - before.0;
    let parent = CpuTime::now()? - before.1;
    let own = cpu::current();
    child.join()?;
    let report = report.get();
    let report =
        report.ok_or_else(|| Failure::Failed("the child ended without a report".into()))?;

    let (elapsed_ns, parent_ns) = match is_elapsed {
        true => (ns, other_ns),
        false => (other_ns, ns),
    };
    seen.runs += 1;
    seen.answered += report.answered;
    seen.elapsed_ns += elapsed_ns;
    seen.parent_ns += parent_ns;
    seen.parent += parent;
    seen.child_ns += report.cpu_time_ns;
    seen.switches += used.voluntary_switches + used.involuntary_switches + report.switches;
    if let Ok(own) = own {
        seen.on_one_cpu.note(own, report.cpu);
    }
    Ok(ns / ROUND_TRIPS as f64)
}

/// The child: answers each byte, the first of which is not counted.
fn answer(pipes: &Pipes) -> Result<Report, Failure> {
    let failed = |cause| Failure::of("pass a byte through a pipe", cause);
    let trip = || {
        pipes.sleep(Side::Partner)?;
        pipes.wake(Side::Own)
    };
    trip().map_err(failed)?;
    let before = Usage::thread()?;
    let begun = now_ns(CPU_TIME);
    let mut answered = 0;
    for _ in 0..ROUND_TRIPS {
        trip().map_err(failed)?;
        answered += 1;
    }
    let cpu_time_ns = now_ns(CPU_TIME) - begun;
    let used = Usage::thread()? - before;
    Ok(Report {
        answered,
        cpu_time_ns,
        switches: used.voluntary_switches + used.involuntary_switches,
        cpu: cpu::current()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_trip_is_answered_and_both_clocks_are_read() {
        let Ok(cpus) = cpu::allowed() else {
            println!("skipped: no affinity here");
            return;
        };
        let mut seen = Seen::default();
        let elapsed = round_trips(ClockId::Monotonic, &cpus, &mut seen).unwrap();
        round_trips(CPU_TIME, &cpus, &mut seen).unwrap();
        assert_eq!((seen.runs, seen.answered), (2, 2 * ROUND_TRIPS));
        assert!(elapsed > 0.0 && seen.child_ns > 0.0);
        // Two clocks: for a task that hardly waits they are nearly the same.
        assert!(seen.parent_ns < 1.5 * seen.elapsed_ns);
        // Each side sleeps for most of its bytes, wherever it runs.
        assert!(seen.switches > ROUND_TRIPS, "{}", seen.switches);
    }
}
