//! Locks and wake-ups.

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
