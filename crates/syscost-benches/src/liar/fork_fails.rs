//! Forks with flags that the kernel refuses.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must fail: no child was made, however fast that went.
//! ## Source
//! None: it is made up.
//!
//! Except for its flags it is `task.clone3`.

use syscost_harness::prelude::*;

use crate::task::child::clone3;
use crate::task::ids::{DISTINCT, Ids};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Forks without a child",
    expect: &[
        calls(Sysno::CLONE3),
        exactly(Counter::Reported(DISTINCT), 1.0),
        calls(Sysno::EXIT_GROUP),
        calls(Sysno::WAIT4),
        at_most(Counter::MinorFaults, 16.0),
        at_most(Counter::VoluntarySwitches, 1.5),
    ],
    measure,
    ..Benchmark::DEFAULT
};

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    let mut ids = Ids::default();
    let mut outcome = plan.measure(Loop::each(|| {
        // Threads must share their handlers' memory; every kernel refuses a thread that does not.
        let child = clone3(libc::CLONE_THREAD as u64, || 0)?;
        ids.note(child.id());
        child.ends_with(0)
    }))?;
    outcome.report(DISTINCT, ids.distinct());
    Ok(outcome)
}
