//! Sums in a loop that the compiler has replaced by a formula.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must be withheld: its time does not grow with its work.
//! ## Source
//! None: it is made up.

use std::hint::black_box;

use syscost_harness::prelude::*;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Loop folded into a formula",
    measure,
    ..Benchmark::DEFAULT
};

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    plan.measure(Loop::batches(1, |n| {
        // What an optimiser leaves of `(0..n).sum()`.
        black_box(n.wrapping_mul(n.wrapping_sub(1)) / 2);
        Ok(())
    }))
}
