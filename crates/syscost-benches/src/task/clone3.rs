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
use super::until::Until;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "task.clone3",
    title: "Process creation: clone3",
    tags: &["process spawn", "fork", "lat_proc"],
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
    source: include_str!("clone3.rs"),
    ..Benchmark::of::<Row>()
};

/// What the call takes, in the order of `struct clone_args`, as far as it is not zero: the fifth is
/// the signal that announces the child's end.
const ARGUMENTS: [u64; 8] = [0, 0, 0, 0, libc::SIGCHLD as u64, 0, 0, 0];

#[derive(Params, Clone)]
struct Row {
    until: Until,
}

impl Measured for Row {
    fn rows(_: &Here) -> Vec<Case<Self>> {
        rows!(Row { until: Until::ALL })
    }

    fn profile(&self, _: &Here) -> Profile {
        match self.until {
            Until::Created => Profile::Full,
            Until::Reaped => Profile::Standard,
        }
    }

    fn run(self, b: &mut Bencher) -> Result<(), Failure> {
        // Seccomp filters of containers pretend that the call does not exist.
        clone3(0, || 0)
            .map_err(|cause| Failure::Unsupported(cause.to_string()))?
            .ends_with(0)?;
        let mut script = Script::new();
        let arguments = script.place_words(&ARGUMENTS);
        let iteration = Iteration {
            create: vec![
                ScriptCall::new(Sysno::CLONE3, [arguments, size_of_val(&ARGUMENTS) as u64])
                    .forking(),
            ],
            is_blocked: false,
            child: vec![ScriptCall::new(Sysno::EXIT_GROUP, [0])],
            status: 0,
            then: None,
            script,
        };
        lean::measure(b, iteration, self.until)
    }
}
