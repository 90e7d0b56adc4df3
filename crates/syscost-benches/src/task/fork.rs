//! Creating a process by fork.
//!
//! ## Measures
//! The C library's fork, whose child exits immediately. `until=created`: the call alone, as the
//! parent sees it; the child runs only afterwards. `until=reaped`: the child's whole life as well,
//! its exit and the parent's waitpid, one after the other on one CPU. The parent's memory is small:
//! `resident_bytes` gives its size.
//! ## Does not measure
//! What a parent with much memory pays (`task.fork_by_rss`), or a program to execute (`task.exec`).
//! ## Interpretation
//! Most of it is copying the parent's page tables and freeing them. What parent and child write afterwards is
//! copied page by page, which is in `until=reaped` as page faults.
//! ## Source
//! lmbench `lat_proc fork`; LEBench fork; libMicro `fork`.

use syscost_harness::prelude::*;

use super::child::{Child, fork};
use super::ids::{DISTINCT, Ids};
use super::until::{self, Witness};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "task.fork",
    title: "Process creation: fork",
    tags: &["fork and exit", "wait", "process spawn", "lat_proc"],
    cases: Cases::Grid(&[("until", &["created", "reaped"])]),
    expect: &[
        calls(Sysno::CLONE),
        exactly(Counter::Reported(DISTINCT), 1.0),
        // The C library's own calls, such as set_robust_list in the child.
        at_most(Counter::OtherSyscalls, 4.0),
        // Pages that parent or child write are copied: at least the stack.
        within(Counter::MinorFaults, 0.9, 16.0),
        at_most(Counter::VoluntarySwitches, 1.5),
    ],
    quick: |case| case.get("until") == "reaped",
    run,
    source: include_str!("fork.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let mut ids = Ids::default();
    let create = || {
        let child = fork(|| 0)?;
        ids.note(child.id());
        Ok(child)
    };
    until::measure(
        b,
        &[Sysno::EXIT_GROUP, Sysno::WAIT4],
        Witness::Switches,
        create,
        |child: Child| child.ends_with(0),
    )?;
    b.report(DISTINCT, ids.distinct());
    Ok(())
}
