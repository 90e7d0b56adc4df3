//! Yielding the CPU to other tasks that want it.
//!
//! ## Measures
//! One sched_yield call of one of several tasks that do nothing else, and the switch to the next:
//! the yields of all tasks are counted, and the time is divided by them. On the `same` CPU each
//! yield is a switch.
//! ## Does not measure
//! Sleeping and waking (`switch.futex` and the others): the tasks never sleep here. The call
//! without another task to yield to: see below.
//! ## Interpretation
//! The closest to a bare switch measurable from user space: no waking, no idle CPU. With more
//! tasks, each finds the others' data in the caches, and the kernel chooses among more. On a CPU
//! each, tasks have nobody to yield to: the calls return without a switch, which many old benchmarks
//! took for one (`study.switch_costs.yield_alone` is that call's cost). A kernel may also decline to
//! switch, if it considers that the yielding task is owed time: where more than one yield in twenty
//! does not switch, the number is withheld, unless other programs wanted the CPU meanwhile: then it
//! is flagged.
//! ## Source
//! sched_yield(2); the three-costs experiment.

use std::io::{Read, Write, pipe};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rustix::thread::sched_yield;
use syscost_harness::prelude::*;

use super::ping_pong::share;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Context switch: sched_yield",
    tags: "context switch latency, task switch",
    revision: 2,
    expect: &[
        // Each partner may be a call behind when the audit ends, and yields on until it has ended.
        within(Counter::Syscall(Sysno::SCHED_YIELD), 0.8, 1.3),
        switches(1.0),
    ],
    ..Benchmark::of::<Yield>()
};

#[derive(Params, Clone)]
struct Yield {
    between: Between,
    cpus: Placement,
    /// How many tasks share a CPU, or run side by side.
    tasks: TaskCount,
}

impl Measured for Yield {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        let of = |between: Between, tasks: &[u64]| {
            rows!(Yield {
                between: [between],
                cpus: [Placement::SAME],
                tasks: tasks.iter().copied().map(TaskCount)
            })
        };
        let processes = of(Between::Processes, &[2, 4, 8]);
        [processes, of(Between::Threads, &[2])].concat()
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.between {
            Between::Processes | Between::Threads if self.tasks.0 != 2 => Profile::Full,
            Between::Processes => Profile::Quick,
            Between::Threads => Profile::Standard,
        }
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        YieldProofs {
            between: Proof::by_tasks(),
            cpus: Proof::by_tasks(),
            tasks: Proof::by_tasks(),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let tasks = self.tasks.0;
        let team = Together::of(self.cpus, |cpus| yielders(self.between, cpus, tasks));
        plan.measure(team.per_iteration(tasks))
    }
}

/// One yield of the caller; returns the number of yields of all tasks so far.
fn give_way(yields: &AtomicU64) -> u64 {
    sched_yield();
    yields.fetch_add(1, Relaxed) + 1
}

/// The team of tasks that yield. An iteration consists of as many yields as there are tasks.
pub(crate) fn yielders<'t>(
    between: Between,
    cpus: &[u32],
    tasks: u64,
) -> Result<Team<'t>, Failure> {
    let failed = |cause| Failure::of("make a pipe", cause);
    let (gate, mut open) = pipe().map_err(failed)?;
    let yields = share(AtomicU64::new(0))?;
    let mut workers = TaskGroup::new(between)?;
    for _ in 1..tasks {
        let (mut gate, yields) = (gate.try_clone().map_err(failed)?, yields.clone());
        let work = move |(): &mut (), stop: &Stop| {
            // No task yields before all are present.
            gate.read_exact(&mut [0]).tried("wait for the others")?;
            while !stop.is_set() {
                give_way(&yields);
            }
            Ok::<(), Failure>(())
        };
        workers.add(cpus, || Ok(()), work)?;
    }
    let mut waiting = tasks - 1;
    // Yields that the last iterations made in excess of those requested: the next iterations need
    // that many fewer.
    let mut ahead = 0;
    let iterations = move |iterations| {
        open.write_all(&vec![0; std::mem::take(&mut waiting) as usize])
            .tried("let the partners begin")?;
        let mut now = yields.load(Relaxed);
        let enough = now + iterations * tasks - ahead;
        while now < enough {
            now = give_way(&yields);
        }
        ahead = now - enough;
        Ok(())
    };
    Ok(workers.driven_by(iterations).map(drop))
}
