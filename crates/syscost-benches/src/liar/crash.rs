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
    run,
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    b.iter(|| std::process::abort())
}
