//! sched_yield without another task to yield to, which the switch-costs experiment subtracted from
//! its thread switches.
//!
//! ## Measures
//! sched_yield 20 000 times in a row by one task, by the CPU time of the process, per call (published are
//! 100 000 times). The text describes what it subtracts both as the CPU time of its threads and as
//! the overhead of sched_yield: this is the second interpretation.
//! ## Does not measure
//! A switch, unless something else wants this CPU.
//! ## Interpretation
//! Compare with `study.switch_costs.thread_switch{clock=cpu_time}`, and with the published 235 ns.
//! ## Source
//! The switch-costs experiment, "Cost of thread switching" (docs/studies/switch-costs.md).

use rustix::thread::sched_yield;
use syscost_harness::prelude::*;
use syscost_sys::counters::Usage;

use super::{AUDITED, CPU_TIME, ENTRIES, per_turn};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.switch_costs.yield_alone",
    title: "sched_yield of one task, as published",
    tags: &["yield"],
    run,
    source: include_str!("yield_alone.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    b.audit_apart(&[calls(Sysno::SCHED_YIELD)], AUDITED, |yields| {
        per_turn(CPU_TIME, yields, sched_yield);
        Ok(())
    })?;
    let (mut switches, mut results) = (0, 0);
    b.as_published(ENTRIES, || {
        let before = Usage::thread()?;
        let ns = per_turn(CPU_TIME, ENTRIES, sched_yield);
        let used = Usage::thread()? - before;
        switches += used.voluntary_switches + used.involuntary_switches;
        results += 1;
        Ok(ns)
    })?;
    let yields = f64::from(results) * ENTRIES as f64;
    b.detail("switches_per_yield_count", switches as f64 / yields);
    Ok(())
}
