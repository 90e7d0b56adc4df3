//! Creating a process that executes a program by posix_spawn.
//!
//! ## Measures
//! The C library's posix_spawn of a tiny static program of syscost's, without attributes, in an
//! empty environment. `until=created`: the call, which returns when the program has been loaded; it
//! runs only afterwards. `until=reaped`: its run (it writes one byte and exits), waitpid, and
//! reading the byte as well.
//! ## Does not measure
//! A search through PATH, a dynamic linker, or a program that does anything.
//! ## Interpretation
//! It contains a vfork and an exec, with a new stack and all signals blocked meanwhile: compare
//! with `task.exec`, `via=vfork`.
//! ## Source
//! posix_spawn(3); lmbench `lat_proc exec`.

use syscost_harness::prelude::*;

use super::child::Child;
use super::command::Command;
use super::ids::{DISTINCT, Ids};
use super::marked::Marked;
use super::until::{self, Witness};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "task.posix_spawn",
    title: "Process creation: posix_spawn",
    tags: &["process spawn", "exec", "launch a program"],
    cases: Cases::Grid(&[("until", &["created", "reaped"])]),
    expect: &[
        calls(Sysno::EXECVE),
        exactly(Counter::Reported(DISTINCT), 1.0),
        // The C library's own calls: clone or clone3, a stack for the child, blocking signals and
        // querying their handlers.
        at_most(Counter::OtherSyscalls, 140.0),
        at_most(Counter::MinorFaults, 8.0),
        at_most(Counter::VoluntarySwitches, 2.5),
    ],
    quick: |case| case.get("until") == "reaped",
    full: |case| case.get("until") != "reaped",
    run,
    source: include_str!("posix_spawn.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let (marked, mut ids) = (Marked::new()?, Ids::default());
    let command = Command::plain(marked.path());
    let create = || {
        let child = command.spawn()?;
        ids.note(child.id());
        Ok(child)
    };
    let ending = [Sysno::WRITE, Sysno::EXIT_GROUP, Sysno::WAIT4, Sysno::READ];
    until::measure(
        b,
        &ending,
        Witness::Marker(&marked),
        create,
        |child: Child| {
            child.ends_with(0)?;
            marked.take()
        },
    )?;
    b.report(DISTINCT, ids.distinct());
    Ok(())
}
