//! Waking threads that sleep on a futex: the cost for the waker.
//!
//! ## Measures
//! One FUTEX_WAKE: without waiters (`waiters=0`), and of 1 or 8 threads that sleep in FUTEX_WAIT on
//! the CPU that the row names. Each such call is timed individually, from its begin to its return,
//! when all waiters have slept for some ten microseconds.
//! ## Does not measure
//! When the woken threads run (`switch.wakeup`), nor the round trip (`switch.futex`). The waiters
//! are of the class SCHED_BATCH, which never preempts: on the same CPU a common waiter may run
//! before the waker's call has returned.
//! ## Interpretation
//! On the same CPU the waker only puts the others into the run queue. Another CPU that is idle
//! must also be woken, by an inter-processor interrupt; in a virtual machine that goes through the
//! hypervisor and may cost ten times as much. Eight waiters there need one interrupt. Where another
//! program wants the same CPU all the time, the kernel switches within the call, and mostly to the
//! waiter: then the number includes more than the call, and is flagged as disturbed.
//! ## Source
//! `perf bench futex wake`.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use rustix::thread::futex::{self, Flags};
use syscost_harness::prelude::*;
use syscost_sys::process::Batch;

use super::hand_over;
use super::sleepers::{Bed, Watch, looks};
use crate::syscall::{Bad, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Futex wake, cost to the waker",
    tags: "wakeup, perf bench futex wake",
    ..Benchmark::of::<FutexWake>()
};

#[derive(Params, Clone)]
struct FutexWake {
    /// Where the waiters are.
    cpus: Option<Placement>,
    /// How many threads sleep on the futex.
    waiters: u64,
}

impl Measured for FutexWake {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(FutexWake {
            cpus: [None]
                .into_iter()
                .chain(hand_over::placements(here).map(Some)),
            waiters: match cpus {
                None => vec![0],
                // The second thread woken on the waker's own CPU may preempt it.
                Some(Placement::SAME) => vec![1],
                Some(_) => vec![1, 8],
            }
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.cpus {
            Some(Placement::SAME) if self.waiters == 1 => Profile::Quick,
            Some(_) | None => Profile::Standard,
        }
    }

    fn proofs(&self) -> FutexWakeProofs<Proof> {
        FutexWakeProofs {
            cpus: Proof::by_tasks(),
            waiters: WOKEN
                .expects(self.waiters)
                .and(Proof::counted(self.counts())),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let waiters = self.waiters;
        let Some(placement) = self.cpus else {
            let word = AtomicU32::new(0);
            let wake = || -> Result<(), Bad> { must(futex::wake(&word, Flags::PRIVATE, 1)? == 0) };
            let mut outcome = plan.measure(Loop::each(wake))?;
            outcome.observe(&WOKEN, 0_u64);
            return Ok(outcome);
        };
        // Else the look at the waiters preempts them, and they sleep later than they would.
        let _no_preemption = Batch::enter().map_err(Unsupported::from)?;
        let make = |cpus: &[u32]| {
            let bed = Arc::new(Bed::default());
            let workers = bed.fill(cpus, waiters)?;
            let watch = Watch::over(&bed, &workers)?;
            Ok(workers.driven_by(Waker {
                bed,
                watch,
                waiters,
                woken: 0,
            }))
        };
        let together = Together::of(placement, make).own_share();
        let (mut outcome, (waker, _)) = plan.measure(together)?.split();
        outcome.observe(&WOKEN, waker.woken);
        Ok(outcome)
    }
}

static WOKEN: Witness = Witness::of("threads that a call woke", "FUTEX_WAKE");

impl FutexWake {
    fn counts(&self) -> Vec<Expect> {
        if self.waiters == 0 {
            return vec![calls(Sysno::FUTEX)];
        }
        let count = self.waiters as f64;
        let (least, most) = (0.95 * (1.0 + count), 2.1 + count);
        let own = [
            // The wake, each waiter's next wait, and perhaps a second look.
            within(Counter::Syscall(Sysno::FUTEX), least, most),
            // Each waiter's next sleep; the waker continues.
            switches(count),
            costs(Counter::TimedCalls, 1.0),
        ];
        // Each look waits twice as long as the one before, so that sixteen take a tenth of a
        // second.
        own.into_iter().chain(looks(16.0 * count)).collect()
    }
}

/// The measuring thread.
struct Waker {
    bed: Arc<Bed>,
    watch: Watch,
    waiters: u64,
    /// How many the last call woke.
    woken: u64,
}

impl Driver for Waker {
    const IS_PREPARED: bool = true;

    fn prepare(&mut self) -> Result<(), Failure> {
        self.watch.until_all_sleep()
    }

    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            let woken = futex::wake(&self.bed.0[0].0, Flags::PRIVATE, i32::MAX.cast_unsigned())
                .tried("wake")? as u64;
            if woken != self.waiters {
                let what = format!("woke {woken}, not {}", self.waiters);
                return Err(Failure::Refuted(what));
            }
            self.woken = woken;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.bed.clear()
    }
}
