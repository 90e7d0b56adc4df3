//! The kernel's priority-inheriting lock: FUTEX_LOCK_PI and FUTEX_UNLOCK_PI.
//!
//! ## Measures
//! `free`: one FUTEX_LOCK_PI of a free word and one FUTEX_UNLOCK_PI of it, both through the kernel.
//! `contended`: two threads take three such locks in turn, each taking the next before it releases
//! the last, so that the first to come waits until the other hands over. One operation is a step of
//! both: two locks and two unlocks, and on one CPU two switches. The detail `hand_over_ns` is half
//! of it.
//! ## Does not measure
//! The fast path of a C library: it takes a free lock by one atomic operation without the kernel,
//! so `free` is the price only of what that cannot do. A priority boost: both threads have the same
//! priority.
//! ## Interpretation
//! The kernel looks up the owner and keeps a real-time mutex with its queue for the word; that is
//! the excess over `sync.futex_wake` without waiters. On two CPUs a thread that waits for a running
//! one spins inside the kernel instead of sleeping, so that `contended` may cost less there than
//! any wake-up; the evidence shows how many of the two switches really happened.
//! ## Source
//! `perf bench futex lock-pi`.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rustix::io::Errno;
use rustix::thread::futex::{self, Flags};
use syscost_harness::prelude::*;

use super::hand_over::{self, Chain, LINKS, Side};
use super::{Padded, State, TAKERS, incomplete};
use crate::syscall::{Bad, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Priority-inheritance futex: lock and unlock",
    tags: "priority inversion, pi futex, pi mutex, lock contention, perf bench futex lock-pi",
    ..Benchmark::of::<FutexPi>()
};

#[derive(Params, Clone)]
struct FutexPi {
    state: State,
    cpus: Option<Placement>,
}

impl Measured for FutexPi {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(FutexPi {
            state: State::ALL,
            cpus: match state {
                State::Free => vec![None],
                State::Contended => hand_over::placements(here).map(Some).collect(),
            }
        })
    }

    fn proofs(&self) -> FutexPiProofs<Proof> {
        let counted = match (self.state, self.cpus) {
            (State::Free, _) => vec![exactly(Counter::Syscall(Sysno::FUTEX), 2.0)],
            (State::Contended, Some(Placement::SAME)) => {
                vec![switches(2.0), together(Sysno::FUTEX, 4.0)]
            }
            (State::Contended, _) => {
                vec![at_most(Counter::Switches, 2.1), together(Sysno::FUTEX, 4.0)]
            }
        };
        FutexPiProofs {
            state: Proof::counted(counted).and(match self.state {
                State::Free => Proof::default(),
                State::Contended => TAKERS.expects(2_u64),
            }),
            cpus: Proof::by_tasks(),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        match (self.state, self.cpus) {
            (State::Free, _) => free(plan),
            (State::Contended, Some(cpus)) => {
                hand_over::measure(plan, Between::Threads, cpus, || Ok(Words::default()))
            }
            (State::Contended, None) => Err(incomplete()),
        }
    }
}

fn free(plan: Plan) -> Result<Outcome, Failure> {
    let word = AtomicU32::new(0);
    plan.measure(Loop::each(|| -> Result<(), Bad> {
        futex::lock_pi(&word, Flags::PRIVATE, None)?;
        // The kernel writes the owner's number into the word.
        must(word.load(Relaxed) != 0)?;
        futex::unlock_pi(&word, Flags::PRIVATE)?;
        must(word.load(Relaxed) == 0)
    }))
}

#[derive(Default)]
struct Words([Padded<AtomicU32>; LINKS]);

impl Chain for Words {
    type Error = Errno;

    fn lock(&self, _: Side, link: usize) -> Result<(), Errno> {
        futex::lock_pi(&self.0[link].0, Flags::PRIVATE, None)
    }

    fn unlock(&self, _: Side, link: usize) -> Result<(), Errno> {
        futex::unlock_pi(&self.0[link].0, Flags::PRIVATE)
    }
}
