//! The first child that a process makes.
//!
//! ## Measures
//! The call that makes a child, as the parent sees it, timed by a process that has made none
//! before: a lean process as for `task.fork`, a new one for each sample. The child exits
//! immediately, but runs only afterwards. `via=fork`: the call of `task.fork`. `via=clone`: that of
//! `task.clone_vm`, which shares the memory.
//! ## Does not measure
//! The first fork of a larger process. The program's start: it has run, touched its memory and
//! waited for the request when it makes the call. The child's life (`task.fork`, `until=reaped`).
//! ## Interpretation
//! Compare with `until=created` of the same call. The kernel's code and data for it are no longer
//! in the core's own caches, since a program was executed in between, and the kernel has nothing
//! left over from the last child: a stack, a table, an id. An experiment that makes one child in
//! each run of its program measures this, and one that makes thousands has it as its first value.
//! ## Source
//! The three-costs experiment, whose first results are larger than the others.

use syscost_harness::prelude::*;

use super::ids::DISTINCT;
use super::lean::{self, FIRST_FAULTS, FIRST_WAITS};
use super::{clone_vm, fork};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Process creation: first child of a process",
    tags: "cold start, fork, clone, process spawn",
    expect: &[
        // A program in each sample, and one child of it, which exits.
        calls(Sysno::EXECVE),
        calls(Sysno::EXIT_GROUP),
        // Each is waited for, but the last program of the audit ends after it.
        within(Counter::Syscall(Sysno::WAIT4), 1.4, 2.0),
        exactly(Counter::Reported(DISTINCT), 1.0),
        // This process sleeps while the new one starts, and while it works.
        at_least(
            Counter::VoluntarySwitches,
            1.0,
            "starting a process waits for files and locks",
        ),
        // For the child's end, so that it had not run before; and for the next request.
        within(Counter::Reported(FIRST_WAITS), 0.75, 2.5),
    ],
    ..Benchmark::of::<FirstChild>()
};

/// The call that makes the child.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Via {
    Fork,
    Clone,
}

#[derive(Params, Clone)]
struct FirstChild {
    via: Via,
}

impl Measured for FirstChild {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(FirstChild { via: Via::ALL })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.via {
            Via::Fork => Profile::Standard,
            Via::Clone => Profile::Full,
        }
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        FirstChildProofs {
            via: Proof::counted([match self.via {
                // The pages that the process writes after the call are given back to it.
                Via::Fork => within(Counter::Reported(FIRST_FAULTS), 0.9, 16.0),
                // Nothing is copied for a child that shares its parent's memory.
                Via::Clone => at_most(Counter::Reported(FIRST_FAULTS), 0.1),
            }]),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let iteration = match self.via {
            Via::Fork => fork::iteration(),
            Via::Clone => clone_vm::iteration(),
        };
        lean::measure_first(plan, iteration)
    }
}
