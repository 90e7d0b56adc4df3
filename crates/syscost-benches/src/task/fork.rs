//! Creating a process by fork.
//!
//! ## Measures
//! clone as the C library's fork calls it, by a lean process, whose child exits immediately.
//! `until=created`: the call alone, as the parent sees it; the child runs only afterwards.
//! `until=reaped`: the child's whole life as well, its exit and the parent's wait4, one after the
//! other on one CPU.
//!
//! The lean process is a static program of syscost's, started for this row on the measured CPU,
//! with the mappings and the memory of a C program that does nothing: fourteen pages of its own
//! (`resident_bytes`). Its child touches nine pages, as one of the C library's fork does. It makes
//! the calls and reads the processor's counter; this program, which is larger, sleeps meanwhile.
//! (Where the run's clock is another one, `reaped` includes the request and the answer.)
//! ## Does not measure
//! What a larger parent pays: for its memory (`task.fork_by_rss`), and for each mapping, of which a
//! dynamically linked program has some ten or twenty more. A program to execute (`task.exec`).
//! ## Interpretation
//! Most of it is making an address space and freeing it. What parent and child write afterwards is
//! copied page by page, which is in `until=reaped` as page faults.
//! ## Source
//! lmbench `lat_proc fork`; LEBench fork; libMicro `fork`.

use syscost_harness::prelude::*;
use syscost_sys::lean::{Script, ScriptCall};

use super::ids::DISTINCT;
use super::lean::{self, ASKED, FAULTS, Iteration};
use super::until::{Creation, TaskCreation, Until};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Process creation: fork",
    tags: "fork and exit, wait, process spawn, lat_proc",
    revision: 2,
    expect: &[
        calls(Sysno::CLONE),
        calls(Sysno::EXIT_GROUP),
        calls(Sysno::WAIT4),
        ASKED,
        exactly(Counter::Reported(DISTINCT), 1.0),
        FAULTS,
        at_most(Counter::VoluntarySwitches, 1.5),
    ],
    roles: roles!(TaskCreation { until: Until::Reaped } => Role::Fork),
    ..Benchmark::by::<TaskCreation, Fork>()
};

/// What a lean process does: forks a child that exits, and waits for it.
pub(super) fn iteration() -> Iteration {
    // Where the child's id goes is the fourth argument or the fifth, by the architecture.
    let arguments = [FLAGS as u64, 0, 0, Script::CHILD_ID, Script::CHILD_ID];
    Iteration::of(ScriptCall::new(Sysno::CLONE, arguments))
}

/// As the C libraries do, for what gettid returns in the child.
const FLAGS: i32 = libc::CLONE_CHILD_SETTID | libc::CLONE_CHILD_CLEARTID | libc::SIGCHLD;

struct Fork;

impl Creation for Fork {
    const PROFILES: [Profile; 2] = [Profile::Standard, Profile::Quick];

    fn measure(until: Until, plan: Plan) -> Result<Outcome, Failure> {
        lean::measure(plan, iteration(), until)
    }

    fn proof(until: Until) -> Proof {
        lean::proof(until, false)
    }
}
