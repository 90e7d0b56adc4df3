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

pub(crate) const GROUP: Group = Group {
    name: "sync",
    title: "locks and wake-ups",
    benchmarks: &[
        mutex::BENCHMARK,
        spin_lock::BENCHMARK,
        atomic::BENCHMARK,
        barrier::BENCHMARK,
        futex_wake::BENCHMARK,
        futex_requeue::BENCHMARK,
        futex_waitv::BENCHMARK,
        futex_pi::BENCHMARK,
        file_lock::BENCHMARK,
    ],
    hidden: false,
};

/// A value on cache lines of its own: neighbours are fetched in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Padded<T>(T);

/// Claims what a try of a lock must come to.
fn claim(b: &mut Bencher, claim: &str, expected: &str, holds: bool) {
    let observed = if holds { expected } else { "the contrary" };
    b.claim(claim, expected, observed, "benchmark", holds);
}

pub(crate) fn lie() -> u32 {
    static LIE: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *LIE.get_or_init(|| {
        std::fs::read_to_string("/tmp/sync_lie")
            .ok()
            .and_then(|t| t.trim().parse().ok())
            .unwrap_or(0)
    })
}
