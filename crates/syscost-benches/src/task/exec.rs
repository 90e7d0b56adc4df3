//! Creating a process that executes a program, by fork or vfork and execve.
//!
//! ## Measures
//! Fork or vfork, by a lean process as for `task.fork` and `task.vfork`, the child's execve of a
//! tiny static program of syscost's, its run, wait4, and reading the byte that it wrote. The program
//! is a few hundred bytes in memory: it maps one page, writes the byte and exits. It is named
//! /proc/self/fd/N, and has one argument and no environment.
//! ## Does not measure
//! A dynamic linker, start-up of a C library, or reading a program from a disk: what real programs
//! add to this. What a larger parent pays for the fork (`task.fork_by_rss`).
//! ## Interpretation
//! The rest is the kernel's part: creating a new address space, its end, and that of the old one.
//! `via=fork` minus `via=vfork` is the address space that is made by the fork and given up by the
//! execve; vfork copies nothing, so that there the size of the parent does not matter.
//! ## Source
//! lmbench `lat_proc exec`, whose program prints a line. As lmbench is usually built it is linked
//! dynamically, so its figure includes a dynamic linker's work as well.

use syscost_harness::prelude::*;

use super::ids::DISTINCT;
use super::lean::{self, FAULTS, NO_FAULTS, once_and_asked};
use super::marked::Marked;
use super::until::Until;
use super::{fork, vfork};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Process creation: fork and exec",
    tags: "execve, process spawn, fork and execve, launch a program, lat_proc",
    expect: &[
        calls(Sysno::CLONE),
        calls(Sysno::EXECVE),
        once_and_asked(Sysno::WRITE),
        calls(Sysno::EXIT_GROUP),
        calls(Sysno::WAIT4),
        once_and_asked(Sysno::READ),
        at_most(Counter::OtherSyscalls, 0.0),
        exactly(Counter::Reported(DISTINCT), 1.0),
        at_most(Counter::VoluntarySwitches, 2.5),
    ],
    revision: 3,
    roles: roles!(TaskExec { via: Via::Fork } => Role::Exec),
    ..Benchmark::of::<TaskExec>()
};

/// The call that creates the process.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Via {
    Fork,
    Vfork,
}

#[derive(Params, Clone)]
struct TaskExec {
    via: Via,
}

impl Measured for TaskExec {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(TaskExec { via: Via::ALL })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.via {
            Via::Fork => Profile::Quick,
            Via::Vfork => Profile::Standard,
        }
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        // A child of vfork borrows its parent's memory, so nothing of it is copied.
        let faults = match self.via {
            Via::Fork => FAULTS,
            Via::Vfork => NO_FAULTS,
        };
        TaskExecProofs {
            via: Proof::counted([faults]),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let marked = Marked::new()?;
        let iteration = match self.via {
            Via::Fork => fork::iteration(),
            Via::Vfork => vfork::iteration(),
        };
        lean::measure(plan, iteration.running(&marked), Until::Reaped)
    }
}
