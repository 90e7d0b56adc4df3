//! Never returns.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must fail when its time is up.
//! ## Source
//! None: it is made up.

use std::time::Duration;

use syscost_harness::prelude::*;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Hangs",
    measure,
    ..Benchmark::DEFAULT
};

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    plan.measure(Loop::infallible(|| {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }))
}
