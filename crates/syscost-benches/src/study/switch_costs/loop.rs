//! A turn of an empty loop, as the switch-costs experiment timed it.
//!
//! ## Measures
//! An empty loop of 100 000 000 turns, and of 100 000, by the CPU time of the process, per turn. The
//! program was compiled without optimisation; here a model of such code keeps the counter in memory. That
//! the empty loop was timed by this clock is our interpretation: the text names it for the loops from which
//! this one is subtracted.
//! ## Does not measure
//! The cost of a loop around a call: the core works on both simultaneously.
//! ## Interpretation
//! Compare with `timing.loop{shape=memory}`.
//! ## Source
//! The switch-costs experiment, "For loop overhead" (docs/studies/switch-costs.md).

use syscost_harness::prelude::*;

use super::{CPU_TIME, TURNS, per_turn};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.switch_costs.loop",
    title: "Loop overhead: one turn of an empty loop, as published",
    tags: &["loop overhead"],
    cases: Cases::Grid(&[("turns", &["100M", "100K"])]),
    // The clock is read twice per result.
    expect: &[at_most(Counter::OtherSyscalls, 0.001)],
    run,
    source: include_str!("loop.rs"),
    ..Benchmark::DEFAULT
};

/// Turns of the longer loop, as published.
const LONG: u64 = 100_000_000;

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let turns = match b.case().get("turns") {
        "100M" => LONG,
        "100K" => TURNS,
        _ => return Err(b.case().unknown("turns")),
    };
    b.as_published(turns, || Ok(per_turn(CPU_TIME, turns, || ())))
}
