//! Claims to compute and sleeps.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must be withheld: it gives up its CPU.
//! ## Source
//! None: it is made up.

use std::time::Duration;

use syscost_harness::prelude::*;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Sleeps instead of computing",
    expect: &[calls(Sysno::CLOCK_NANOSLEEP)],
    run,
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    b.iter(|| std::thread::sleep(Duration::from_micros(20)))
}
