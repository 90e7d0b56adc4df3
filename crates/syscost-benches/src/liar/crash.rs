//! Kills its own process.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must fail, and cost no other row.
//! ## Source
//! None: it is made up.

use syscost_harness::prelude::*;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Crashes",
    measure,
    ..Benchmark::DEFAULT
};

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    plan.measure(Loop::infallible(|| std::process::abort()))
}
