//! Moving sleeping threads from one futex to another.
//!
//! ## Measures
//! One FUTEX_CMP_REQUEUE that wakes no thread and moves all waiters (1, 8, 64 threads asleep in
//! FUTEX_WAIT) to another word; the next moves them back. They sleep all the while.
//! ## Does not measure
//! Waking the first of them, as a condition variable does when it wakes all.
//! ## Interpretation
//! Compare with `sync.futex_wake`: moving a waiter costs a fraction of waking it, which is why a
//! broadcast wakes one and moves the others. The excess of 64 over 8, divided by 56, is the cost of
//! one waiter.
//! ## Source
//! `perf bench futex requeue`.

use std::sync::Arc;

use rustix::thread::futex::{self, Flags};
use syscost_harness::prelude::*;

use super::sleepers::{Bed, Watch, looks};

/// The operation includes none: the audited children may look more or less often before it begins.
const LOOKS: [Expect; 2] = looks(0.5);

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Futex requeue of sleeping threads",
    tags: "futex_cmp_requeue, thundering herd, perf bench futex requeue",
    expect: &[together(Sysno::FUTEX, 1.0), LOOKS[0], LOOKS[1]],
    ..Benchmark::of::<FutexRequeue>()
};

#[derive(Params, Clone)]
struct FutexRequeue {
    cpus: Placement,
    /// How many threads sleep on the futex.
    waiters: u64,
}

impl Measured for FutexRequeue {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(FutexRequeue {
            cpus: [Placement::SAME],
            waiters: [1, 8, 64]
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.waiters {
            8 => Profile::Standard,
            ..8 | 9.. => Profile::Full,
        }
    }

    fn proofs(&self) -> FutexRequeueProofs<Proof> {
        FutexRequeueProofs {
            cpus: Proof::by_tasks(),
            waiters: MOVED.expects(self.waiters),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let waiters = self.waiters;
        let make = |cpus: &[u32]| {
            let bed = Arc::new(Bed::default());
            let workers = bed.fill(cpus, waiters)?;
            Watch::over(&bed, &workers)?.until_all_sleep()?;
            Ok(workers.driven_by(Mover {
                bed,
                waiters,
                moved: 0,
                at: 0,
            }))
        };
        let measured = plan.measure(Together::of(self.cpus, make))?;
        let (mut outcome, (mover, _)) = measured.split();
        outcome.observe(&MOVED, mover.moved);
        Ok(outcome)
    }
}

static MOVED: Witness = Witness::of("threads that a call moved", "FUTEX_CMP_REQUEUE");

/// The measuring thread, and the word at which the others sleep.
struct Mover {
    bed: Arc<Bed>,
    waiters: u64,
    /// How many the last call moved.
    moved: u64,
    at: usize,
}

impl Driver for Mover {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            let [from, to] = [self.at, 1 - self.at].map(|at| &self.bed.0[at].0);
            let moved = futex::cmp_requeue(from, Flags::PRIVATE, 0, self.waiters as u32, to, 0)
                .tried("requeue")? as u64;
            if moved != self.waiters {
                let what = format!("moved {moved}, not {}", self.waiters);
                return Err(Failure::Refuted(what));
            }
            self.moved = moved;
            self.at = 1 - self.at;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.bed.clear()
    }
}
