//! Creating a process that borrows its parent's memory.
//!
//! ## Measures
//! vfork, that is clone with CLONE_VM and CLONE_VFORK, by a lean process as for `task.fork`. The
//! parent is blocked until the child has executed a program or ended, so there is no call that
//! merely creates. `until=executed`: the call, whose child executes a tiny program of syscost's;
//! the program itself runs only afterwards. `until=reaped`: the call, whose child exits
//! immediately, and wait4.
//! ## Does not measure
//! The program's run and end (`task.exec`, `via=vfork`). A stack for the child, and blocked signals
//! (`task.posix_spawn`).
//! ## Interpretation
//! No page tables are copied, and no page afterwards, so the parent's size does not matter, which is
//! the point of vfork; compare `until=reaped` with `task.fork`. Both include two switches of the
//! CPU: to the child and back.
//! ## Source
//! LEBench; libMicro `vfork`; vfork(2).

use syscost_harness::prelude::*;
use syscost_sys::lean::ScriptCall;

use super::ids::DISTINCT;
use super::lean::{self, ASKED, Iteration, NO_FAULTS, once_and_asked};
use super::marked::Marked;
use super::until::Until;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Process creation: vfork",
    tags: "process spawn, clone_vfork",
    revision: 2,
    expect: &[
        calls(Sysno::CLONE),
        calls(Sysno::EXIT_GROUP),
        calls(Sysno::WAIT4),
        exactly(Counter::Reported(DISTINCT), 1.0),
        NO_FAULTS,
        at_most(Counter::VoluntarySwitches, 2.5),
    ],
    ..Benchmark::of::<Vfork>()
};

/// What vfork(2) is made of.
const FLAGS: i32 = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;

/// What a lean process does: makes a child that borrows its memory, and its stack, and exits.
pub(super) fn iteration() -> Iteration {
    Iteration {
        is_blocked: true,
        ..Iteration::of(ScriptCall::new(Sysno::CLONE, [FLAGS as u64]))
    }
}

/// The moment up to which the child is timed.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    Executed,
    Reaped,
}

#[derive(Params, Clone)]
struct Vfork {
    until: Moment,
}

impl Measured for Vfork {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Vfork { until: Moment::ALL })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.until {
            Moment::Executed => Profile::Full,
            Moment::Reaped => Profile::Quick,
        }
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        let executes = [
            calls(Sysno::EXECVE),
            once_and_asked(Sysno::WRITE),
            once_and_asked(Sysno::READ),
            at_most(Counter::OtherSyscalls, 0.0),
        ];
        VforkProofs {
            until: match self.until {
                Moment::Executed => lean::proof(Until::Created, true).and(Proof::counted(executes)),
                Moment::Reaped => lean::proof(Until::Reaped, true).and(Proof::counted([ASKED])),
            },
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        match self.until {
            Moment::Reaped => lean::measure(plan, iteration(), Until::Reaped),
            Moment::Executed => {
                let marked = Marked::new()?;
                lean::measure(plan, iteration().running(&marked), Until::Created)
            }
        }
    }
}
