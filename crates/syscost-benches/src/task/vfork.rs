//! Creating a process that borrows its parent's memory.
//!
//! ## Measures
//! clone with CLONE_VM and CLONE_VFORK, as posix_spawn calls it: vfork, but with a separate stack
//! for the child. The parent is blocked until the child has executed a program or ended, so there
//! is no call that merely creates. `until=executed`: the call, whose child executes a tiny program
//! of syscost's; the program itself runs only afterwards. `until=reaped`: the call, whose child
//! exits immediately, and wait4.
//! ## Does not measure
//! The program's run and end (`task.exec`, `via=vfork`).
//! ## Interpretation
//! No page tables are copied, so the parent's size does not matter, which is the point of vfork; compare
//! `until=reaped` with `task.fork`. Both include two switches of the CPU: to the child and back.
//! ## Source
//! LEBench; libMicro `vfork`; vfork(2).

use syscost_harness::prelude::*;

use super::child::{Child, Stack, vfork};
use super::command::Command;
use super::ids::{DISTINCT, Ids};
use super::marked::Marked;
use super::until::{self, Witness};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "task.vfork",
    title: "Process creation: vfork",
    tags: &["process spawn", "clone_vfork"],
    cases: Cases::List(&[
        CaseSpec {
            params: &[("until", "executed")],
            expect: &[calls(Sysno::EXECVE)],
        },
        CaseSpec {
            params: &[("until", "reaped")],
            expect: &[],
        },
    ]),
    expect: &[
        calls(Sysno::CLONE),
        exactly(Counter::Reported(DISTINCT), 1.0),
        at_most(Counter::OtherSyscalls, 0.0),
        at_most(Counter::VoluntarySwitches, 2.5),
    ],
    quick: |case| case.get("until") == "reaped",
    full: |case| case.get("until") != "reaped",
    run,
    source: include_str!("vfork.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let (mut stack, mut ids) = (Stack::new(), Ids::default());
    if b.case().is("until", "reaped", "executed")? {
        let create = || {
            let child = vfork(&mut stack, &mut || 0)?;
            ids.note(child.id());
            Ok(child)
        };
        let ending = [Sysno::EXIT_GROUP, Sysno::WAIT4];
        until::measure(b, &ending, Witness::Switches, create, |child: Child| {
            child.ends_with(0)
        })?;
    } else {
        let marked = Marked::new()?;
        let command = Command::plain(marked.path());
        let create = || {
            let child = vfork(&mut stack, &mut || command.execute())?;
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
    }
    b.report(DISTINCT, ids.distinct());
    Ok(())
}
