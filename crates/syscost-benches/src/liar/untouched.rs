//! Memory that was never written, presented as resident: every read finds the kernel's zero page.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must be withheld: the kernel says that nothing of it is resident.
//! ## Source
//! None: it is made up.

use syscost_harness::prelude::*;
use syscost_sys::memory::{Memory, Pages};

/// Words per 4 KiB page.
const PAGE: usize = 512;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Untouched memory sold as resident",
    measure,
    ..Benchmark::DEFAULT
};

fn measure(mut plan: Plan) -> Result<Outcome, Failure> {
    let mut memory = Memory::reserve(1 << 20, Pages::Small)?;
    let sum = |memory: &mut Memory| -> u64 { memory.words().iter().step_by(PAGE).sum() };
    // So that its page faults do not give it away.
    std::hint::black_box(sum(&mut memory));
    plan.claim_resident(&memory)?;
    plan.measure(Loop::infallible(|| sum(&mut memory)))
}
