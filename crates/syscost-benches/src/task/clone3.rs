//! Creating a process by clone3 itself.
//!
//! ## Measures
//! One clone3 system call without flags, whose child, in a copy of the memory, exits immediately.
//! `until=created`: the call alone; the child runs only afterwards. `until=reaped`: the child's
//! exit and the parent's wait4 as well.
//! ## Does not measure
//! The C library's part of a fork (`task.fork`).
//! ## Interpretation
//! The difference from `task.fork` is what the library does before and after: handlers, its locks,
//! a list for the child.
//! ## Source
//! lmbench `lat_proc fork`, without the library.

use syscost_harness::prelude::*;

use super::child::{Child, clone3};
use super::ids::{DISTINCT, Ids};
use super::until::{self, Witness};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "task.clone3",
    title: "Process creation: clone3",
    tags: &["process spawn", "fork", "lat_proc"],
    cases: Cases::Grid(&[("until", &["created", "reaped"])]),
    expect: &[
        calls(Sysno::CLONE3),
        exactly(Counter::Reported(DISTINCT), 1.0),
        at_most(Counter::OtherSyscalls, 0.0),
        // As for `task.fork`.
        within(Counter::MinorFaults, 0.9, 16.0),
        at_most(Counter::VoluntarySwitches, 1.5),
    ],
    full: |case| case.get("until") != "reaped",
    run,
    source: include_str!("clone3.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    // Seccomp filters of containers pretend that the call does not exist.
    clone3(0, || 0)
        .map_err(|cause| Failure::Unsupported(cause.to_string()))?
        .ends_with(0)?;
    let mut ids = Ids::default();
    let create = || {
        let child = clone3(0, || 0)?;
        ids.note(child.id());
        Ok(child)
    };
    let ending = [Sysno::EXIT_GROUP, Sysno::WAIT4];
    until::measure(b, &ending, Witness::Switches, create, |child: Child| {
        child.ends_with(0)
    })?;
    b.report(DISTINCT, ids.distinct());
    Ok(())
}
