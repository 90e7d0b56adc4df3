//! Switches between processes and threads, as the three-costs experiment timed them.
//!
//! ## Measures
//! A pair of `rdtsc` around: creating a child, waking each other, and waiting for the child's end. Less the
//! cost of creating one, which was measured before (`study.three_costs.task_create`), and halved, because it
//! is called two switches; the mean of a run, and of three runs the mean. Processes: fork; the parent
//! writes to one pipe and reads from another, the child the other way round; waitpid. Threads: clone; the
//! child writes a byte that the parent reads; waitpid; of these the text has the write alone, the rest is our
//! interpretation. All on one CPU. Published are 10 000 tasks per run;
//! here 1000, for time. Where the pipes are created is not published: here once, before.
//! ## Does not measure
//! A switch. The cost of the call that creates a task is subtracted, what the task costs afterwards is not:
//! its first page faults, its end, the wait for it, and the switches of these. The details `iteration_ns`
//! and `creation_ns` are what was measured and what was subtracted; `typical_ns` is the same arithmetic with
//! medians, `without_pipes_ns` the same for a parent and a child that never wake each other.
//! ## Interpretation
//! Compare with half of `switch.pipe`, whose two tasks live on. How many switches there were was counted:
//! `switches_per_iteration_count`.
//! ## Source
//! The three-costs experiment, section 3.3 (docs/studies/three-costs.md).
#![allow(unsafe_code)] // clone

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::{Errno, read, retry_on_intr, write};
use rustix::pipe::{PipeFlags, pipe_with};
use syscost_harness::prelude::*;
use syscost_sys::counters::Usage;

use super::task::clone;
use super::task_create::{self, By};
use super::{Pairs, RUNS, TASKS, counter_ticks_per_ns, mean_of_runs, support};
use crate::task::child::{Child, Stack, fork};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.three_costs.switch",
    title: "Context switch, as published",
    tags: &["process switch", "thread switch", "pipe"],
    cases: Cases::List(&[
        CaseSpec {
            params: &[("between", "processes")],
            expect: &[
                exactly(Counter::Syscall(Sysno::READ), 2.0),
                exactly(Counter::Syscall(Sysno::WRITE), 2.0),
            ],
        },
        CaseSpec {
            params: &[("between", "threads")],
            expect: &[calls(Sysno::READ), calls(Sysno::WRITE)],
        },
    ]),
    quantity: Quantity::Level,
    expect: &[
        calls(Sysno::CLONE),
        calls(Sysno::WAIT4),
        calls(Sysno::EXIT_GROUP),
        // The C library's own calls at a fork, and those that count switches.
        at_most(Counter::OtherSyscalls, 4.1),
    ],
    support,
    run,
    source: include_str!("switch.rs"),
    ..Benchmark::DEFAULT
};

/// Number of switches that the published arithmetic assumes in an iteration besides the creation.
const SWITCHES: f64 = 2.0;

/// Switches that were counted.
#[derive(Default)]
struct Seen {
    iterations: u64,
    of_parent: u64,
    of_children: u64,
}

impl Seen {
    /// Switches per iteration. A child's last switch, from its end to its parent, is accounted for
    /// when the parent reads the count.
    fn per_iteration(&self) -> f64 {
        (self.of_parent + self.of_children) as f64 / self.iterations.max(1) as f64
    }
}

fn switches(usage: Usage) -> u64 {
    usage.voluntary_switches + usage.involuntary_switches
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let by = match b.case().get("between") {
        "processes" => By::Fork,
        "threads" => By::Clone,
        _ => return Err(b.case().unknown("between")),
    };
    let ticks_per_ns = counter_ticks_per_ns(b.clock());
    let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(|cause| Failure::of("make a pipe", cause));
    let pipes = Pipes {
        to_child: pipe()?,
        to_parent: pipe()?,
    };
    let (mut pairs, mut stack) = (Pairs::new(TASKS), Stack::new());
    let creation = mean_of_runs(|| task_create::one_run(by, &mut stack, &mut pairs))?;
    let typical_creation = pairs.typical();
    bare_life(by, &mut stack, &mut pairs)?;
    let typical_life = pairs.typical();
    let mut pairs = Pairs::new(TASKS);
    let mut seen = Seen::default();
    let mut iteration = 0.0;
    b.as_published(TASKS * RUNS, || {
        let before = (Usage::thread()?, Usage::children()?);
        let mean = mean_of_runs(|| match by {
            By::Fork => pairs.around(creation, || pipes.with_process(), Ok),
            By::Clone => pairs.around(creation, || pipes.with_thread(&mut stack), Ok),
        })?;
        seen.of_parent += switches(Usage::thread()? - before.0);
        seen.of_children += switches(Usage::children()? - before.1);
        seen.iterations += TASKS * RUNS;
        iteration = mean + creation;
        Ok(mean / SWITCHES / ticks_per_ns)
    })?;
    pairs.detail(b, creation, ticks_per_ns);
    b.detail("switches_per_iteration_count", seen.per_iteration());
    b.detail("iteration_ns", iteration / ticks_per_ns);
    b.detail("creation_ns", creation / ticks_per_ns);
    // From medians, which are robust against interruptions: these three are of one run each.
    let typical = |whole: f64| (whole - typical_creation) / SWITCHES / ticks_per_ns;
    b.detail("typical_ns", typical(pairs.typical()));
    b.detail("without_pipes_ns", typical(typical_life));
    Ok(())
}

/// The cost of a child that wakes no other task, in ticks: created, ended and waited for.
fn bare_life(by: By, stack: &mut Stack, pairs: &mut Pairs) -> Result<f64, Failure> {
    let ends = |child: Child| child.ends_with(0);
    match by {
        By::Fork => pairs.around(0.0, || fork(|| 0).and_then(ends), Ok),
        // SAFETY: each child is waited for before the next.
        By::Clone => pairs.around(0.0, || unsafe { clone(stack, None) }.and_then(ends), Ok),
    }
}

/// A read and a write end for each direction.
struct Pipes {
    to_child: (OwnedFd, OwnedFd),
    to_parent: (OwnedFd, OwnedFd),
}

impl Pipes {
    #[inline(always)]
    fn with_process(&self) -> Result<(), Failure> {
        let child = fork(|| {
            let woken = take(&self.to_child.0).and_then(|()| give(&self.to_parent.1));
            i32::from(woken.is_err())
        })?;
        give(&self.to_child.1)
            .and_then(|()| take(&self.to_parent.0))
            .map_err(|cause| Failure::of("use the pipes to the child", cause))?;
        child.ends_with(0)
    }

    #[inline(always)]
    fn with_thread(&self, stack: &mut Stack) -> Result<(), Failure> {
        // SAFETY: the child is waited for here.
        let child = unsafe { clone(stack, Some(self.to_parent.1.as_fd())) }?;
        take(&self.to_parent.0)
            .map_err(|cause| Failure::of("read the pipe from the thread", cause))?;
        child.ends_with(0)
    }
}

/// Waits for a byte.
fn take(pipe: &OwnedFd) -> Result<(), Errno> {
    match retry_on_intr(|| read(pipe, &mut [0_u8]))? {
        1 => Ok(()),
        _ => Err(Errno::PIPE),
    }
}

/// Writes a byte.
fn give(pipe: &OwnedFd) -> Result<(), Errno> {
    retry_on_intr(|| write(pipe, b".")).map(drop)
}

#[cfg(test)]
mod tests {
    use syscost_sys::cpu;

    use super::*;

    #[test]
    fn what_a_process_and_a_thread_switch_is_counted_on_one_cpu() {
        let (mut stack, mut pairs) = (Stack::new(), Pairs::new(20));
        // In a child, which is pinned instead of the other tests; it allocates nothing.
        let counted = fork(|| {
            let pinned = cpu::current().is_ok_and(|here| cpu::pin(here).is_ok());
            i32::from(!pinned || !is_counted(&mut stack, &mut pairs))
        });
        counted.and_then(|child| child.ends_with(0)).unwrap();
    }

    /// Whether the ends of tasks are included in the accounts: one life takes at least two switches.
    fn is_counted(stack: &mut Stack, pairs: &mut Pairs) -> bool {
        [By::Fork, By::Clone].into_iter().all(|by| {
            let account = || Some((Usage::thread().ok()?, Usage::children().ok()?));
            let Some(before) = account() else {
                return false;
            };
            let lived = bare_life(by, stack, pairs).is_ok();
            account().is_some_and(|after| {
                let all = switches(after.0 - before.0) + switches(after.1 - before.1);
                lived && all >= 36
            })
        })
    }

    #[test]
    fn switches_are_of_both_and_per_iteration() {
        let seen = Seen {
            iterations: 1000,
            of_parent: 2000,
            of_children: 2000,
        };
        assert_eq!(seen.per_iteration(), 4.0);
    }
}
