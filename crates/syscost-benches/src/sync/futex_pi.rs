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
use syscost_sys::partner::Between;
use syscost_sys::topology::Relation;

use super::Padded;
use super::hand_over::{self, Chain, LINKS, Side};
use crate::syscall::{Bad, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "sync.futex_pi",
    title: "Priority-inheritance futex: lock and unlock",
    tags: &[
        "priority inversion",
        "pi futex",
        "pi mutex",
        "lock contention",
        "perf bench futex lock-pi",
    ],
    cases: Cases::Here(cases),
    run,
    source: include_str!("futex_pi.rs"),
    ..Benchmark::DEFAULT
};

fn cases(_: &Here) -> Vec<Case> {
    let free =
        Case::new([("state", "free")]).expecting([exactly(Counter::Syscall(Sysno::FUTEX), 2.0)]);
    let contended = hand_over::placements().map(|placement| {
        let sleeps = match placement {
            Placement::At(Relation::SameCpu) => switches(2.0),
            _ => at_most(Counter::Switches, 2.1),
        };
        Case::new([("state", "contended"), (Placement::KEY, placement.name())])
            .expecting([sleeps, together(Sysno::FUTEX, 4.0)])
    });
    [free].into_iter().chain(contended).collect()
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    if b.case().is("state", "contended", "free")? {
        return hand_over::measure(b, Between::Threads, || Ok(Words::default()));
    }
    let word = AtomicU32::new(0);
    b.try_iter(|| -> Result<(), Bad> {
        futex::lock_pi(&word, Flags::PRIVATE, None)?;
        // The kernel writes the owner's number into the word.
        must(word.load(Relaxed) != 0)?;
        futex::unlock_pi(&word, Flags::PRIVATE)?;
        must(word.load(Relaxed) == 0)
    })
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
