//! Running a command by the shell, as `system` and make do.
//!
//! ## Measures
//! vfork by a lean process (see `task.vfork`), the child's execve of `/bin/sh -c COMMAND` in an
//! empty environment, and wait4. `command=exit`: the shell itself exits with a certain status
//! (`exit 43`). `command=program`: it runs a tiny program of syscost's, which writes one byte; the
//! byte is read.
//! ## Does not measure
//! A search through PATH, or what a login shell reads at its start. The few calls more by which the
//! C library's `system` and `popen` set signals and pipes (`task.posix_spawn`).
//! ## Interpretation
//! Most of it is the start of the shell: its dynamic linker, its C library, its own set-up. The
//! shells installed as /bin/sh differ much (dash, bash, busybox), so compare machines with care. A
//! shell that executes the last command in its own process saves a fork in `command=program`.
//! ## Source
//! lmbench `lat_proc shell`.

use std::ffi::CStr;

use syscost_harness::prelude::*;

use super::ids::DISTINCT;
use super::lean::{self, Iteration, NO_FAULTS};
use super::marked::Marked;
use super::until::Until;
use super::vfork;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Process creation: sh -c",
    tags: "shell, process spawn, system, popen, launch a program, lat_proc",
    revision: 2,
    expect: &[
        exactly(Counter::Reported(DISTINCT), 1.0),
        // The shell and its linker may make any calls; the tiny program alone would make far fewer.
        within(Counter::OtherSyscalls, 10.0, 2000.0),
        NO_FAULTS,
        at_most(Counter::VoluntarySwitches, 4.0),
    ],
    ..Benchmark::of::<Shell>()
};

const SHELL: &CStr = c"/bin/sh";

/// A command whose exit status no shell returns by itself, and that status.
const EXIT: (&CStr, u8) = (c"exit 43", 43);

/// What the shell runs.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Command {
    Exit,
    Program,
}

#[derive(Params, Clone)]
struct Shell {
    command: Command,
}

impl Measured for Shell {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Shell {
            command: Command::ALL
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.command {
            Command::Exit => Profile::Quick,
            Command::Program => Profile::Standard,
        }
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        ShellProofs {
            command: Proof::counted(match self.command {
                Command::Exit => [calls(Sysno::EXECVE), calls(Sysno::WAIT4)],
                Command::Program => [
                    exactly(Counter::Syscall(Sysno::EXECVE), 2.0),
                    // The shell's own call, if it forks.
                    within(Counter::Syscall(Sysno::WAIT4), 1.0, 3.0),
                ],
            }),
        }
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        match SHELL.to_str().map(std::fs::metadata) {
            Ok(Ok(_)) => Ok(()),
            _ => Err(Unsupported::new("there is no /bin/sh")),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let marked = Marked::new()?;
        let shell = |command| vfork::iteration().executing(SHELL, &[c"sh", c"-c", command]);
        let iteration = match self.command {
            Command::Exit => Iteration {
                status: EXIT.1,
                ..shell(EXIT.0)
            },
            Command::Program => shell(marked.path()).taking(&marked),
        };
        lean::measure(plan, iteration, Until::Reaped)
    }
}
