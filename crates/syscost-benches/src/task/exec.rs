//! Creating a process that executes a program, by fork or vfork and execve.
//!
//! ## Measures
//! Fork (the C library's) or vfork (see `task.vfork`), the child's execve of a tiny static program
//! of syscost's, its run, wait4, and reading the byte that it wrote. The program is a few hundred
//! bytes in memory: it maps one page, writes the byte and exits. It is named /proc/self/fd/N, and
//! has one argument and no environment.
//! ## Does not measure
//! A dynamic linker, start-up of a C library, or reading a program from a disk: what real programs
//! add to this.
//! ## Interpretation
//! The rest is the kernel's part: creating a new address space, its end, and that of the old one.
//! `via=fork` minus `via=vfork` is the copy of the parent's page tables, which grows with
//! `resident_bytes`. The parent is this program, with some 6 MB: from a lean one of a few hundred
//! KB the whole takes about a fifth less, see `task.fork_by_rss`.
//! ## Source
//! lmbench `lat_proc exec`, whose program prints a line. As lmbench is usually built it is linked
//! dynamically, so its figure includes a dynamic linker's work as well.

use syscost_harness::prelude::*;

use super::child::{Stack, fork, vfork};
use super::command::Command;
use super::ids::{DISTINCT, Ids};
use super::marked::Marked;
use super::until;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "task.exec",
    title: "Process creation: fork and exec",
    tags: &[
        "execve",
        "process spawn",
        "fork and execve",
        "launch a program",
        "lat_proc",
    ],
    cases: Cases::List(&[
        CaseSpec {
            params: &[("via", "fork")],
            expect: &[
                // As for `task.fork`.
                at_most(Counter::OtherSyscalls, 4.0),
                within(Counter::MinorFaults, 0.9, 16.0),
            ],
        },
        CaseSpec {
            params: &[("via", "vfork")],
            expect: &[at_most(Counter::OtherSyscalls, 0.0)],
        },
    ]),
    expect: &[
        calls(Sysno::CLONE),
        calls(Sysno::EXECVE),
        calls(Sysno::WRITE),
        calls(Sysno::EXIT_GROUP),
        calls(Sysno::WAIT4),
        calls(Sysno::READ),
        exactly(Counter::Reported(DISTINCT), 1.0),
        at_most(Counter::VoluntarySwitches, 2.5),
    ],
    quick: |case| case.get("via") == "fork",
    run,
    source: include_str!("exec.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let (marked, mut ids) = (Marked::new()?, Ids::default());
    let command = Command::plain(marked.path());
    let mut stack = Stack::new();
    until::detail_size(b);
    let by_fork = match b.case().get("via") {
        "fork" => true,
        "vfork" => false,
        _ => return Err(b.case().unknown("via")),
    };
    b.try_iter(|| {
        let child = match by_fork {
            true => fork(|| command.execute())?,
            false => vfork(&mut stack, &mut || command.execute())?,
        };
        ids.note(child.id());
        child.ends_with(0)?;
        marked.take()
    })?;
    b.report(DISTINCT, ids.distinct());
    Ok(())
}
