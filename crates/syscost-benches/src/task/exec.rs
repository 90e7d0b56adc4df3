//! Creating a process that executes a program, by fork or vfork and execve.
//!
//! ## Measures
//! Fork, by a lean process as for `task.fork`, or vfork by this one (see `task.vfork`), the child's
//! execve of a tiny static program of syscost's, its run, wait4, and reading the byte that it
//! wrote. The program is a few hundred bytes in memory: it maps one page, writes the byte and
//! exits. It is named /proc/self/fd/N, and has one argument and no environment.
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
use syscost_sys::lean::{Call, Script};
use syscost_sys::tiny::MARKER;

use super::child::{Stack, vfork};
use super::command::Command;
use super::fork;
use super::ids::{DISTINCT, Ids};
use super::lean::{self, FAULTS, Turn, Until, once_and_asked};
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
                once_and_asked(Sysno::WRITE),
                once_and_asked(Sysno::READ),
                at_most(Counter::OtherSyscalls, 0.0),
                FAULTS,
            ],
        },
        CaseSpec {
            params: &[("via", "vfork")],
            expect: &[
                calls(Sysno::WRITE),
                calls(Sysno::READ),
                at_most(Counter::OtherSyscalls, 0.0),
            ],
        },
    ]),
    expect: &[
        calls(Sysno::CLONE),
        calls(Sysno::EXECVE),
        calls(Sysno::EXIT_GROUP),
        calls(Sysno::WAIT4),
        exactly(Counter::Reported(DISTINCT), 1.0),
        at_most(Counter::VoluntarySwitches, 2.5),
    ],
    revision: 2,
    quick: |case| case.get("via") == "fork",
    run,
    source: include_str!("exec.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    match b.case().is("via", "fork", "vfork")? {
        true => by_fork(b),
        false => by_vfork(b),
    }
}

fn by_fork(b: &mut Bencher) -> Result<(), Failure> {
    let marked = Marked::new()?;
    let mut script = Script::new();
    let path = script.place(marked.path().to_bytes_with_nul());
    let arguments = script.place_words(&[path, 0]);
    let environment = script.place_words(&[0]);
    let read = [marked.markers() as u64, Script::ANSWER, 2];
    let turn = Turn {
        create: fork::call(),
        child: vec![
            Call::new(Sysno::EXECVE, [path, arguments, environment]),
            // The status that shells use for a missing file.
            Call::new(Sysno::EXIT_GROUP, [127]),
        ],
        // One byte was read, and it was the marker.
        then: Some((
            Call::new(Sysno::READ, read).answering(),
            1 | u64::from(MARKER) << 32,
        )),
        script,
    };
    lean::measure(b, turn, Until::Reaped)
}

fn by_vfork(b: &mut Bencher) -> Result<(), Failure> {
    let (marked, mut ids) = (Marked::new()?, Ids::default());
    let command = Command::plain(marked.path());
    let mut stack = Stack::new();
    until::detail_size(b);
    b.try_iter(|| {
        let child = vfork(&mut stack, &mut || command.execute())?;
        ids.note(child.id());
        child.ends_with(0)?;
        marked.take()
    })?;
    b.report(DISTINCT, ids.distinct());
    Ok(())
}
