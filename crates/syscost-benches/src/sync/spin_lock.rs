//! A spin lock: pthread_spin_lock and pthread_spin_unlock.
//!
//! ## Measures
//! `free`: taken and released by one thread while the process's only other thread sleeps.
//! `contended`: several threads, each on a separate CPU, take it as fast as they can, each time to
//! add one to a number that it guards; the result is the time per addition of all threads together.
//! ## Does not measure
//! Threads that share a CPU: a waiter then burns the time that the holder needs.
//! ## Interpretation
//! The threads never sleep, which saves the wake-ups of `sync.mutex` and costs a CPU per waiter.
//! Contended, the cost is that of moving the lock's cache line between the cores. The details
//! `least_share_percent` and `largest_share_percent` are the shares of the least and the most
//! served thread, in percent of an equal share of the additions: a core that has the line often
//! gets the lock again.
//! ## Source
//! As `sync.mutex`.
#![allow(unsafe_code)] // the C library's interface

use std::cell::UnsafeCell;

use syscost_harness::prelude::*;

use super::lock::{self, Code, Guarded, Lock};
use super::{State, TAKERS, contention, incomplete};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Spin lock: lock and unlock",
    tags: "spinlock, lock contention, contended lock, uncontended lock, pthread_spin_lock, \
        busy waiting",
    ..Benchmark::of::<SpinLockContention>()
};

#[derive(Params, Clone)]
struct SpinLockContention {
    state: State,
    cpus: Option<Placement>,
    /// How many threads take it at once, each on a separate CPU.
    threads: Option<Copies>,
}

impl Measured for SpinLockContention {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        let free = rows!(SpinLockContention {
            state: [State::Free],
            cpus: [None],
            threads: [None]
        });
        let contended = |at: Placement| {
            rows!(SpinLockContention {
                state: [State::Contended],
                cpus: [Some(at)],
                threads: contention::threads(at, here).into_iter().map(Some)
            })
        };
        let contended = contention::placements(here).flat_map(contended);
        free.into_iter().chain(contended).collect()
    }

    fn proofs(&self) -> SpinLockContentionProofs<Proof> {
        let (counted, takers) = match self.state {
            State::Free => (lock::FREE, 1),
            State::Contended => {
                let threads = self.threads.map_or(0, |Copies(threads)| threads);
                (contention::KEEP_RUNNING, threads)
            }
        };
        SpinLockContentionProofs {
            state: Proof::counted([counted]).and(TAKERS.expects(takers)),
            cpus: Proof::by_tasks(),
            threads: Proof::by_tasks(),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        match (self.state, self.cpus.zip(self.threads)) {
            (State::Free, _) => lock::measure_free::<SpinLock>(plan),
            (State::Contended, Some((cpus, threads))) => {
                contention::measure(plan, cpus, threads, Guarded::<SpinLock>::default)
            }
            (State::Contended, None) => Err(incomplete()),
        }
    }
}

struct SpinLock(UnsafeCell<libc::pthread_spinlock_t>);

// SAFETY: a spin lock is made for use by several threads.
unsafe impl Send for SpinLock {}
// SAFETY: as above.
unsafe impl Sync for SpinLock {}

impl Default for SpinLock {
    fn default() -> Self {
        let lock = SpinLock(UnsafeCell::new(0));
        // SAFETY: it is not in use yet. It holds no reference to itself, so it may be moved until it is used.
        unsafe { libc::pthread_spin_init(lock.0.get(), libc::PTHREAD_PROCESS_PRIVATE) };
        lock
    }
}

impl Lock for SpinLock {
    #[inline(always)]
    fn lock(&self) -> Result<(), Code> {
        // SAFETY: initialised, and it stays at its address while it is in use.
        Code::check(unsafe { libc::pthread_spin_lock(self.0.get()) })
    }

    fn try_lock(&self) -> Result<bool, Code> {
        // SAFETY: as above.
        Code::tried(unsafe { libc::pthread_spin_trylock(self.0.get()) })
    }

    #[inline(always)]
    fn unlock(&self) -> Result<(), Code> {
        // SAFETY: as above, and only its holder unlocks it.
        Code::check(unsafe { libc::pthread_spin_unlock(self.0.get()) })
    }
}
