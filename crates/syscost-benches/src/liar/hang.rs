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
    id: "liar.hang",
    title: "Hangs",
    run,
    source: include_str!("hang.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    b.iter(|| {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    })
}
