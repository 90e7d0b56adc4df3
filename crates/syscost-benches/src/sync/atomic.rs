//! Atomic additions to one number by several threads at once.
//!
//! ## Measures
//! Several threads, each on a CPU of its own, add one to the same number as fast as they can: `fetch_add` by the instruction of
//! that name, `compare_exchange` by a loop of compare-and-exchange that tries until it succeeds. The result is the time per
//! addition of them all together.
//! ## Does not measure
//! Additions that nobody disputes (`op.atomic`).
//! ## Reading it
//! Compare with `op.atomic`: the difference is what it costs to move the cache line between cores, shared by as many additions as a core
//! makes before it loses the line again. The details `least_share_percent` and `largest_share_percent` tell how much of an
//! equal share of the additions the least and the most served thread got.
//! ## Source
//! The contended counter of many talks on scaling; that no addition is lost is its evidence.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use syscost_harness::prelude::*;

use super::contention::{self, Adder};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "sync.atomic",
    title: "Atomic addition, contended",
    cases: Cases::Here(cases),
    quick: |case| case.get("op") == "fetch_add",
    run,
    source: include_str!("atomic.rs"),
    ..Benchmark::DEFAULT
};

fn cases() -> Vec<Case> {
    ["fetch_add", "compare_exchange"]
        .into_iter()
        .flat_map(|op| contention::cases(&[("op", op)], &[contention::KEEP_RUNNING]))
        .collect()
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    match b.case().get("op") {
        "fetch_add" => contention::measure(b, FetchAdd::default),
        _ => contention::measure(b, CompareExchange::default),
    }
}

#[derive(Default)]
#[repr(align(128))]
struct FetchAdd(AtomicU64);

impl Adder for FetchAdd {
    type Error = Infallible;

    #[inline(always)]
    fn add(&self) -> Result<u64, Infallible> {
        Ok(self.0.fetch_add(1, Relaxed) + 1)
    }

    fn number(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

#[derive(Default)]
#[repr(align(128))]
struct CompareExchange(AtomicU64);

impl Adder for CompareExchange {
    type Error = Infallible;

    #[inline(always)]
    fn add(&self) -> Result<u64, Infallible> {
        let mut found = self.0.load(Relaxed);
        loop {
            match self.0.compare_exchange(found, found + 1, Relaxed, Relaxed) {
                Ok(_) => return Ok(found + 1),
                Err(other) => found = other,
            }
        }
    }

    fn number(&self) -> u64 {
        self.0.load(Relaxed)
    }
}
