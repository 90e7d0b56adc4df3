//! Moving a process from one control group to another.
//!
//! ## Measures
//! One write of a sleeping process's id to the `cgroup.procs` of a group (version 2), back and
//! forth between two new groups below the group that syscost runs in; after each, /proc shows where
//! the process is. The groups have no controllers of their own and are removed afterwards.
//! ## Does not measure
//! What controllers add when a process with memory and many threads moves, or creating a group.
//! ## Interpretation
//! The kernel takes the locks of all groups and of the process, and blocks forks and exits
//! meanwhile. These moves follow each other closely; the first one after a pause may wait for
//! milliseconds until every CPU has passed a grace period of RCU, which is why container runtimes
//! start a process in its group (CLONE_INTO_CGROUP) rather than move it.
//! ## Source
//! cgroups(7), the kernel's cgroup-v2 documentation on migration.

mod groups;

use std::cell::Cell;

use syscost_harness::prelude::*;

use self::groups::Groups;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "cgroup migration",
    tags: "control group, cgroup v2, container",
    expect: &[
        calls(Sysno::WRITE),
        // The kernel's lock may have to be waited for.
        at_most(Counter::VoluntarySwitches, 20.0),
        exactly(Counter::Reported(MOVED), 1.0),
    ],
    measure,
    ..Benchmark::DEFAULT
};

const MOVED: &str = "moves that /proc showed";

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    let groups = Groups::new()?;
    // Which of the two is next, and whether a move is to be checked.
    let (next, to_see, mut moved) = (Cell::new(1), Cell::new(false), 0_u64);
    groups.attach(0)?;
    let mut look = || -> Result<(), Failure> {
        let is_there = groups.holds(1 - next.get())?;
        moved += u64::from(to_see.take() && is_there);
        Ok(())
    };
    let mut outcome = plan.measure(Single::of(&mut look, || {
        groups.attach(next.get())?;
        next.set(1 - next.get());
        to_see.set(true);
        Ok(())
    }))?;
    look()?;
    outcome.report(MOVED, moved as f64);
    Ok(outcome)
}
