//! Running a command by the shell, as `system` and make do.
//!
//! ## Measures
//! posix_spawn of `/bin/sh -c COMMAND` in an empty environment, and waitpid. `command=exit`: the
//! shell itself exits with a certain status (`exit 43`). `command=program`: it runs a tiny program
//! of syscost's, which writes one byte; the byte is read.
//! ## Does not measure
//! A search through PATH, or what a login shell reads at its start.
//! ## Interpretation
//! Most of it is the start of the shell: its dynamic linker, its C library, its own set-up. The
//! shells installed as /bin/sh differ much (dash, bash, busybox), so compare machines with care. A
//! shell that executes the last command in its own process saves a fork in `command=program`.
//! ## Source
//! lmbench `lat_proc shell`.

use std::ffi::CString;

use syscost_harness::prelude::*;

use super::command::Command;
use super::ids::{DISTINCT, Ids};
use super::marked::Marked;
use super::until;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "task.shell",
    title: "Process creation: sh -c",
    tags: &[
        "shell",
        "process spawn",
        "system",
        "popen",
        "launch a program",
        "lat_proc",
    ],
    cases: Cases::List(&[
        CaseSpec {
            params: &[("command", "exit")],
            expect: &[calls(Sysno::EXECVE), calls(Sysno::WAIT4)],
        },
        CaseSpec {
            params: &[("command", "program")],
            expect: &[
                exactly(Counter::Syscall(Sysno::EXECVE), 2.0),
                // The shell's own call, if it forks.
                within(Counter::Syscall(Sysno::WAIT4), 1.0, 3.0),
            ],
        },
    ]),
    expect: &[
        exactly(Counter::Reported(DISTINCT), 1.0),
        // The shell and its linker may make any calls; the tiny program alone would make far fewer.
        within(Counter::OtherSyscalls, 10.0, 2000.0),
        at_most(Counter::MinorFaults, 8.0),
        at_most(Counter::VoluntarySwitches, 8.0),
    ],
    quick: |case| case.get("command") == "exit",
    support: |_| match SHELL.to_str().map(std::fs::metadata) {
        Ok(Ok(_)) => Ok(()),
        _ => Err(Unsupported::new("there is no /bin/sh")),
    },
    run,
    source: include_str!("shell.rs"),
    ..Benchmark::DEFAULT
};

const SHELL: &std::ffi::CStr = c"/bin/sh";

/// An exit status that no shell returns by itself.
const STATUS: i32 = 43;

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let (marked, mut ids) = (Marked::new()?, Ids::default());
    let has_program = b.case().is("command", "program", "exit")?;
    let what = match has_program {
        true => marked.path().to_owned(),
        false => CString::new(format!("exit {STATUS}"))
            .map_err(|cause| Failure::of("the shell's command", cause))?,
    };
    let command = Command::shell(SHELL, &what);
    until::detail_size(b);
    b.try_iter(|| {
        let shell = command.spawn()?;
        ids.note(shell.id());
        if has_program {
            shell.ends_with(0)?;
            marked.take()
        } else {
            shell.ends_with(STATUS)
        }
    })?;
    b.report(DISTINCT, ids.distinct());
    Ok(())
}
