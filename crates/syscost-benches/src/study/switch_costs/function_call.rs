//! A call of a function that does nothing, as the switch-costs experiment timed it.
//!
//! ## Measures
//! A loop with the call less the same loop without, by the CPU time of the process, per turn. The program
//! was compiled without optimisation; here a model of such code keeps the counter in memory. Published are
//! 100 000 000 turns; here 10 000 000, since a row must end in time.
//! ## Does not measure
//! A call alone: the loop waits for its counter in memory, and the core makes the call meanwhile. Where the
//! compiler put the counter changes how long each of both loops takes. The remainder once the empty loop is
//! subtracted may be less than a call, or more.
//! ## Interpretation
//! Compare with `call.integer{arguments=0}`.
//! ## Source
//! The switch-costs experiment, "Cost of minimum function call" (docs/studies/switch-costs.md).

use syscost_harness::prelude::*;

use super::super::unoptimised;
use super::{CALLS, CPU_TIME, per_turn};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.switch_costs.function_call",
    title: "Minimal function call, as published",
    tags: &["procedure call", "function call overhead"],
    quantity: Quantity::Level,
    // The clock is read four times per result.
    expect: &[at_most(Counter::OtherSyscalls, 0.001)],
    run,
    source: include_str!("function_call.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    b.as_published(CALLS, || {
        let without = per_turn(CPU_TIME, CALLS, || ());
        Ok(per_turn(CPU_TIME, CALLS, || unoptimised::none()) - without)
    })
}
