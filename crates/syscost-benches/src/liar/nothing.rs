//! Claims getppid and calls nothing.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must be withheld: the audit counts no call.
//! ## Source
//! None: it is made up.

use std::hint::black_box;

use syscost_harness::prelude::*;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Claims getppid, calls nothing",
    expect: &[calls(Sysno::GETPPID)],
    measure,
    ..Benchmark::DEFAULT
};

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    let cached = std::os::unix::process::parent_id();
    plan.measure(Loop::infallible(|| black_box(cached)))
}
