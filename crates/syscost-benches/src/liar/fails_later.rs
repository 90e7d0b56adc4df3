//! Succeeds once and fails, quickly, from then on.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must fail: a failing operation does not count as a fast one.
//! ## Source
//! None: it is made up.

use syscost_harness::prelude::*;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Fails after the first operation",
    measure,
    ..Benchmark::DEFAULT
};

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    let mut done = 0;
    plan.measure(Loop::each(|| {
        done += 1;
        if done == 1 {
            Ok(())
        } else {
            Err("no such thing any more")
        }
    }))
}
