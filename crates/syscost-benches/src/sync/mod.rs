//! Locks and wake-ups.
//!
//! Locks and wake-ups: free, contended, and handed over to a sleeper. The three differ by factors
//! of ten, and what a program pays depends on which it meets.
//!
//! ## First look
//! - `sync.mutex{state=free}`: an atomic operation each to lock and unlock, and no system call.
//! - `sync.mutex{state=contended,threads=2}`: the same when another thread wants it, too.
//! - `sync.mutex{state=handed_over,cpus=same}`: when each hand-over needs the kernel.
//! - `sync.futex_wake{waiters=0}`: what it costs to ask whether anybody waits.
//!
//! ## Benchmarks
//! `mutex`, `spin_lock` and `atomic` are the C library's and bare operations; `barrier` is all of
//! a team. `futex_wake` to `futex_pi` are the kernel's calls below them; `file_lock` is between
//! processes. One atomic operation without contention is `op.atomic`, a line that moves is
//! `memory.core_to_core`.
//!
//! ## Disturbances
//! Where the threads run: two of one core, of one cache or of two sockets differ several times.
//! Rows that wake a sleeper on another processor depend on idle states and the hypervisor, as
//! `switch` does.

mod atomic;
mod barrier;
mod contention;
mod file_lock;
mod futex_pi;
mod futex_requeue;
mod futex_waitv;
mod futex_wake;
mod hand_over;
mod lock;
mod mutex;
mod sleepers;
mod spin_lock;

use syscost_harness::prelude::*;

use crate::sides::Padded;

pub(crate) use file_lock::Via;
pub(crate) use file_lock::{
    measure_free as measure_free_lock, proof_of_free as proof_of_free_lock,
};

pub(crate) const GROUP: Group = group! {
    sync: "locks and wake-ups",
    mutex,
    spin_lock,
    atomic,
    barrier,
    futex_wake,
    futex_requeue,
    futex_waitv,
    futex_pi,
    file_lock,
};

/// Whether anybody else wants the lock.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    Contended,
}

/// The failure of a row without the parameters that its state takes.
fn incomplete() -> Failure {
    Failure::Broken("lacks a parameter of its state".to_owned())
}

/// How many threads take a lock.
static TAKERS: Witness = Witness::of("threads that take the lock", "their own counts");

fn claim(b: &mut Bencher, claim: &str, expected: &str, holds: bool) {
    let observed = if holds { expected } else { "the contrary" };
    b.claim(claim, expected, observed, "benchmark", holds);
}
