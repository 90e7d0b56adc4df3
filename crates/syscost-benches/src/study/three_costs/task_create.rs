//! fork and clone, as the three-costs experiment timed them.
//!
//! ## Measures
//! A pair of `rdtsc` around each fork or clone in the parent; the child exits immediately, and is waited for
//! outside of the pair. The mean of a run, and of three runs the mean. Nothing is subtracted: the printed
//! means have the four decimals of 10 000 whole numbers. Published are 10 000 tasks a run; here 1000, for
//! time. The flags of clone are not published: here memory, files and handlers are shared.
//! ## Does not measure
//! The child's own part, unless the scheduler lets it run before the call has returned: that is then
//! included.
//! ## Interpretation
//! Compare with `task.fork{until=created}` and `task.clone_thread{until=created}`, which keep the child
//! from running within the call. The cost of a fork depends on how much memory the parent has.
//! ## Source
//! The three-costs experiment, section 3.3 (docs/studies/three-costs.md).
#![allow(unsafe_code)] // clone

use syscost_harness::prelude::*;
use syscost_sys::counters::Usage;

use super::task::clone;
use super::{Pairs, RUNS, TASKS, counter_ticks_per_ns, mean_of_runs, support};
use crate::task::child::{Child, Stack, fork};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.three_costs.task_create",
    title: "Process and thread creation, as published",
    tags: &["fork", "clone", "process creation", "thread creation"],
    cases: Cases::Grid(&[("via", &["fork", "clone"])]),
    expect: &[
        calls(Sysno::CLONE),
        calls(Sysno::WAIT4),
        calls(Sysno::EXIT_GROUP),
        // The C library's own calls at a fork, such as set_robust_list in the child.
        at_most(Counter::OtherSyscalls, 4.0),
    ],
    support,
    run,
    source: include_str!("task_create.rs"),
    ..Benchmark::DEFAULT
};

/// How a task is created.
#[derive(Debug, Clone, Copy)]
pub(super) enum By {
    /// fork.
    Fork,
    /// clone, with the parent's memory shared.
    Clone,
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let by = match b.case().get("via") {
        "fork" => By::Fork,
        "clone" => By::Clone,
        _ => return Err(b.case().unknown("via")),
    };
    crate::task::until::detail_size(b);
    let ticks_per_ns = counter_ticks_per_ns(b.clock());
    let (mut pairs, mut stack) = (Pairs::new(TASKS), Stack::new());
    let (mut tasks, mut preempted) = (0, 0);
    b.as_published(TASKS * RUNS, || {
        let before = Usage::thread()?;
        let mean = mean_of_runs(|| one_run(by, &mut stack, &mut pairs))?;
        preempted += (Usage::thread()? - before).involuntary_switches;
        tasks += TASKS * RUNS;
        Ok(mean / ticks_per_ns)
    })?;
    pairs.detail(b, 0.0, ticks_per_ns);
    b.detail(
        "parent_preempted_per_task_count",
        preempted as f64 / tasks as f64,
    );
    Ok(())
}

/// The mean cost of a creation, in ticks.
pub(super) fn one_run(by: By, stack: &mut Stack, pairs: &mut Pairs) -> Result<f64, Failure> {
    let ends = |child: Child| child.ends_with(0);
    match by {
        By::Fork => pairs.around(0.0, || fork(|| 0), ends),
        // SAFETY: each child is waited for before the next.
        By::Clone => pairs.around(0.0, || unsafe { clone(stack, None) }, ends),
    }
}
