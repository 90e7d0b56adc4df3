//! A pointer chase whose cycle leaves out half of the memory that it claims to go through.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must be withheld: a walk around the cycle finds too few lines.
//! ## Source
//! None: it is made up.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Chase, LINE, Order, Route};
use syscost_sys::memory::{Memory, Pages};

use crate::memory::chases;

/// Bytes of memory that it claims to go through.
const BYTES: usize = 8 << 20;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Pointer chase that skips lines",
    measure,
    ..Benchmark::DEFAULT
};

fn measure(mut plan: Plan) -> Result<Outcome, Failure> {
    let half = Route::dense(BYTES / 2, Order::Random(plan.random().u64(..)));
    let chase = Chase::new(Memory::fill(BYTES, Pages::Small)?, half, 1)?;
    plan.claim_resident(chase.memory())?;
    chases::claim_lines(&mut plan, &chase, BYTES / LINE, LINE);
    plan.measure(Kernel::of(&chase))
}
