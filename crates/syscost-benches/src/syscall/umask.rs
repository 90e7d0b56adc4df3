//! Setting the mask for new files' permissions.
//!
//! ## Measures
//! A umask call that sets the mask to its current value: one exchange in the process's own structure.
//! ## Does not measure
//! Any effect of the mask.
//! ## Interpretation
//! A null call and one atomic exchange.
//! ## Source
//! umask(2); one of the smallest calls that write something.

use rustix::fs::Mode;
use rustix::process::umask;
use syscost_harness::prelude::*;

use super::must;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "umask",
    tags: "file mode creation mask, system call",
    expect: &[calls(Sysno::UMASK)],
    measure,
    ..Benchmark::DEFAULT
};

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    // The only way to learn the mask is to set it.
    let own = umask(Mode::empty());
    umask(own);
    plan.measure(Loop::each(|| must(umask(own) == own)))
}
