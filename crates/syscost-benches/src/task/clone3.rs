//! Creating a process by clone3 itself.
//!
//! ## Measures
//! One clone3 system call without flags, by a lean process as for `task.fork`, whose child, in a
//! copy of the memory, exits immediately. `until=created`: the call alone; the child runs only
//! afterwards. `until=reaped`: the child's exit and the parent's wait4 as well.
//! ## Does not measure
//! What a larger parent pays (`task.fork_by_rss`).
//! ## Interpretation
//! `task.fork` also has the kernel write the child's id into its memory, where a page is copied.
//! ## Source
//! lmbench `lat_proc fork`, without the library.

use syscost_harness::prelude::*;
use syscost_sys::lean::{Script, ScriptCall};

use super::child::clone3;
use super::ids::DISTINCT;
use super::lean::{self, ASKED, FAULTS, Iteration};
use super::until::{Creation, Row, Until};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Process creation: clone3",
    tags: "process spawn, fork, lat_proc",
    revision: 2,
    expect: &[
        calls(Sysno::CLONE3),
        calls(Sysno::EXIT_GROUP),
        calls(Sysno::WAIT4),
        ASKED,
        exactly(Counter::Reported(DISTINCT), 1.0),
        FAULTS,
        at_most(Counter::VoluntarySwitches, 1.5),
    ],
    ..Benchmark::by::<Row, Clone3>()
};

/// What the call takes, in the order of `struct clone_args`, as far as it is not zero: the fifth is
/// the signal that announces the child's end.
const ARGUMENTS: [u64; 8] = [0, 0, 0, 0, libc::SIGCHLD as u64, 0, 0, 0];

struct Clone3;

impl Creation for Clone3 {
    fn measure(until: Until, plan: Plan) -> Result<Outcome, Failure> {
        // Seccomp filters of containers pretend that the call does not exist.
        clone3(0, || 0)
            .map_err(|cause| Failure::Unsupported(cause.to_string()))?
            .ends_with(0)?;
        let mut script = Script::new();
        let arguments = script.place_words(&ARGUMENTS);
        let create = ScriptCall::new(Sysno::CLONE3, [arguments, size_of_val(&ARGUMENTS) as u64]);
        let iteration = Iteration {
            script,
            ..Iteration::of(create)
        };
        lean::measure(plan, iteration, until)
    }

    fn proof(until: Until) -> Proof {
        lean::proof(until, false)
    }
}
