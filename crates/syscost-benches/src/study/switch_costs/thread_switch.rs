//! Two threads that yield, by elapsed time, by CPU time, and their difference, as the switch-costs
//! experiment took it.
//!
//! ## Measures
//! From before the start of the first of two threads, each of which calls sched_yield 5000 times, to after
//! the end of the second, divided by 5000: `clock=monotonic` by elapsed time, `clock=cpu_time` by the CPU
//! time of the process, that is of both threads; `clock=difference` is the difference of a run by each.
//! Nothing is pinned, as published. Published are 100 000 yields; beside other programs, each of which may
//! be given the CPU for milliseconds, these would take minutes.
//! ## Does not measure
//! A switch from one thread to the other, unless both share a CPU: otherwise there is no other task
//! to yield to. The detail `switches_per_yield_count` shows how many there were. Where they do
//! share one, each of the 5000 is two yields and two switches, and all of it is CPU time: the
//! difference is what other tasks took of the CPU. `kernel_percent` is the kernel's share of the
//! CPU time, by getrusage. A 5000th of starting two threads is in the results as well, some 10 to
//! 20 ns.
//! ## Interpretation
//! Compare with `switch.yield{between=threads,cpus=same,tasks=2}` and with `study.switch_costs.yield_alone`.
//! ## Source
//! The switch-costs experiment, "Cost of thread switching" (docs/studies/switch-costs.md).

use std::thread;

use rustix::thread::sched_yield;
use rustix::time::ClockId;
use syscost_harness::prelude::*;
use syscost_sys::counters::Usage;
use syscost_sys::cpu;

use super::super::cpu_time::CpuTime;
use super::super::procedure::{OneCpu, Unpinned, now_ns};
use super::super::unoptimised::repeat;
use super::{AUDITED, By};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.switch_costs.thread_switch",
    title: "Thread switch by yields, as published",
    tags: &["context switch", "sched_yield"],
    cases: Cases::Grid(&[("clock", By::NAMES)]),
    // Two threads that run simultaneously use more CPU time than elapses.
    quantity: Quantity::Level,
    // The task that starts the two sleeps until they have ended: once in a run of 10 000 yields. Half of
    // that, to allow for runs whose threads were faster.
    expect: &[at_least(Counter::VoluntarySwitches, 0.000_05)],
    // It is not known beforehand where unpinned tasks run.
    disregards_neighbours: |_| true,
    run,
    source: include_str!("thread_switch.rs"),
    ..Benchmark::DEFAULT
};

/// Yields of each thread: a twentieth of those published.
const YIELDS: u64 = 5_000;

/// Number of threads that yield.
const THREADS: u64 = 2;

/// What was observed in all runs.
#[derive(Default)]
struct Seen {
    runs: u64,
    yields: u64,
    switches: u64,
    cpu_time: CpuTime,
    on_one_cpu: OneCpu,
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let by = By::of(b.case())?;
    b.audit_apart(&[calls(Sysno::SCHED_YIELD)], AUDITED, |all| {
        let each = all / THREADS;
        yields(ClockId::Monotonic, each, &mut Seen::default()).map(drop)
    })?;
    let mut seen = Seen::default();
    let unpinned = Unpinned::new(b)?;
    b.as_published(by.runs() * THREADS * YIELDS, || {
        by.result(1.0, |clock| yields(clock, YIELDS, &mut seen))
    })?;
    drop(unpinned);
    b.detail("placed_on_one_cpu_percent", seen.on_one_cpu.percent());
    b.detail("kernel_percent", seen.cpu_time.kernel_percent());
    b.detail(
        "switches_per_yield_count",
        seen.switches as f64 / seen.yields as f64,
    );
    Ok(())
}

/// Time by this clock of both threads' yields, `each` per thread, per yield of one of them, in ns.
fn yields(clock: ClockId, each: u64, seen: &mut Seen) -> Result<f64, Failure> {
    let yielder = move || {
        let made = repeat(each, sched_yield);
        (made, cpu::current())
    };
    let before = (Usage::process()?, CpuTime::now()?);
    let begun = now_ns(clock);
    let threads = [(); THREADS as usize].map(|()| thread::Builder::new().spawn(yielder));
    let ended = threads.map(|thread| {
        let thread = thread.map_err(|cause| Failure::of("start a thread", cause))?;
        let ended = thread.join();
        ended.map_err(|_| Failure::Failed("a thread panicked".into()))
    });
    let ns = now_ns(clock) - begun;
    let used = Usage::process()? - before.0;
    let cpu_time = CpuTime::now()? - before.1;
    let [first, second] = ended;
    let ((first, one), (second, other)) = (first?, second?);
    seen.runs += 1;
    seen.yields += first + second;
    seen.cpu_time += cpu_time;
    seen.switches += used.voluntary_switches + used.involuntary_switches;
    if let (Ok(one), Ok(other)) = (one, other) {
        seen.on_one_cpu.note(one, other);
    }
    Ok(ns / each as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_threads_make_all_their_yields() {
        let mut seen = Seen::default();
        let ns = yields(ClockId::Monotonic, YIELDS, &mut seen).unwrap();
        assert_eq!(seen.yields, THREADS * YIELDS);
        assert!(ns > 0.0);
    }
}
