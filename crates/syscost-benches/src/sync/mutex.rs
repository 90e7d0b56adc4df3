//! A mutex: pthread_mutex_lock and pthread_mutex_unlock.
//!
//! ## Measures
//! A pthread mutex of the default kind. `free`: taken and released by one thread while the
//! process's only other thread sleeps. `contended`: several threads, each on a separate CPU, take
//! it as fast as they can, each time to add one to a number that it guards; the result is the time
//! per addition of all threads together. `handed_over`: two threads take three mutexes in turn,
//! each taking the next before it releases the last, so that the first to come sleeps until the
//! other hands over; one operation is a step of both (two locks, two unlocks, two switches), and
//! the detail `hand_over_ns` is half of it.
//! ## Does not measure
//! Mutexes that check errors, nest, or are shared by processes. Work inside the lock. A process
//! that never had a second thread: some C libraries leave out the atomic operations there.
//! ## Interpretation
//! `free` is two atomic operations (`op.atomic`) and two calls. `contended` may cost less per
//! addition than expected, because a thread that releases the mutex often takes it again before the
//! other has woken: fast and unfair. The details `least_share_percent` and `largest_share_percent`
//! are the shares of the least and the most served thread, in percent of an equal share; 100 and
//! 100 would be fair. `handed_over` is the cost when the threads take turns each time.
//!
//! Threads that take turns on one CPU hardly ever contend for so short a lock, so `contended` needs two.
//! ## Source
//! The microbenchmarks of the C library's locks. Mutual exclusion is checked by the final count
//! (`contended`) and by attempts to take the lock while it is held (`free`).
#![allow(unsafe_code)] // the C library's interface

use std::cell::UnsafeCell;

use syscost_harness::prelude::*;

use super::hand_over::{self, Chain, LINKS, Side};
use super::lock::{self, Code, Guarded, Lock};
use super::{Padded, TAKERS, contention, incomplete};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Mutex: lock and unlock",
    tags: "lock contention, contended lock, uncontended lock, pthread_mutex_lock, lock handoff, \
        critical section",
    revision: 2,
    roles: roles!(SyncMutex { state: State::Free, cpus: None, threads: None } => Role::FreeMutex),
    ..Benchmark::of::<SyncMutex>()
};

/// Whether another thread wants the mutex.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    Contended,
    HandedOver,
}

#[derive(Params, Clone)]
struct SyncMutex {
    state: State,
    cpus: Option<Placement>,
    /// How many threads take it at once, each on a separate CPU.
    threads: Option<Copies>,
}

impl Measured for SyncMutex {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        let row = |state: State, cpus: Option<Placement>, threads: Vec<Option<Copies>>| {
            rows!(SyncMutex {
                state: [state],
                cpus: [cpus],
                threads: threads.clone()
            })
        };
        let contended = contention::placements(here).flat_map(|at| {
            let threads = contention::threads(at, here).into_iter().map(Some);
            row(State::Contended, Some(at), threads.collect())
        });
        let handed_over =
            hand_over::placements(here).flat_map(|at| row(State::HandedOver, Some(at), vec![None]));
        let free = row(State::Free, None, vec![None]).into_iter();
        free.chain(contended).chain(handed_over).collect()
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.state {
            State::Free | State::Contended => Profile::Quick,
            State::HandedOver => Profile::Standard,
        }
    }

    fn proofs(&self) -> SyncMutexProofs<Proof> {
        let counted = match self.state {
            State::Free => vec![lock::FREE],
            State::Contended => vec![
                at_most(Counter::Syscall(Sysno::FUTEX), 2.0),
                at_most(Counter::Switches, 1.0),
            ],
            State::HandedOver => vec![
                switches(2.0),
                // Each wakes and waits. Where the woken thread preempts the waker, only one of them
                // has to; a thread that is overtaken waits again.
                within(Counter::Syscall(Sysno::FUTEX), 1.9, 6.0),
            ],
        };
        let takers = match self.state {
            State::Free => 1,
            State::Contended => self.threads.map_or(0, |Copies(threads)| threads),
            State::HandedOver => 2,
        };
        SyncMutexProofs {
            state: Proof::counted(counted).and(TAKERS.expects(takers)),
            cpus: Proof::by_tasks(),
            threads: Proof::by_tasks(),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        match (self.state, self.cpus, self.threads) {
            (State::Free, ..) => lock::measure_free::<Mutex>(plan),
            (State::Contended, Some(cpus), Some(threads)) => {
                contention::measure(plan, cpus, threads, Guarded::<Mutex>::default)
            }
            (State::HandedOver, Some(cpus), _) => {
                hand_over::measure(plan, Between::Threads, cpus, || Ok(Mutexes::default()))
            }
            (State::Contended | State::HandedOver, ..) => Err(incomplete()),
        }
    }
}

struct Mutex(UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: a mutex is made for use by several threads.
unsafe impl Send for Mutex {}
// SAFETY: as above.
unsafe impl Sync for Mutex {}

impl Default for Mutex {
    fn default() -> Self {
        Mutex(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER))
    }
}

impl Lock for Mutex {
    #[inline(always)]
    fn lock(&self) -> Result<(), Code> {
        // SAFETY: initialised, and it stays at its address while it is in use.
        Code::check(unsafe { libc::pthread_mutex_lock(self.0.get()) })
    }

    fn try_lock(&self) -> Result<bool, Code> {
        // SAFETY: as above.
        Code::tried(unsafe { libc::pthread_mutex_trylock(self.0.get()) })
    }

    #[inline(always)]
    fn unlock(&self) -> Result<(), Code> {
        // SAFETY: as above, and only its holder unlocks it.
        Code::check(unsafe { libc::pthread_mutex_unlock(self.0.get()) })
    }
}

#[derive(Default)]
struct Mutexes([Padded<Mutex>; LINKS]);

impl Chain for Mutexes {
    type Error = Code;

    fn lock(&self, _: Side, link: usize) -> Result<(), Code> {
        self.0[link].0.lock()
    }

    fn unlock(&self, _: Side, link: usize) -> Result<(), Code> {
        self.0[link].0.unlock()
    }
}
