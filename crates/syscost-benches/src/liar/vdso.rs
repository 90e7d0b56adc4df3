//! Presents a clock reading through the vDSO as a system call.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must be withheld: the audit counts no call.
//! ## Source
//! None: it is made up.

use rustix::time::{ClockId, clock_gettime};
use syscost_harness::prelude::*;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Sells the vDSO as a system call",
    expect: &[calls(Sysno::CLOCK_GETTIME)],
    measure,
    ..Benchmark::DEFAULT
};

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    plan.measure(Loop::infallible(|| clock_gettime(ClockId::Monotonic)))
}
