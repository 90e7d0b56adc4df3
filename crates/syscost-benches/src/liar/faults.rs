//! Claims plain stores to memory that it touches for the first time.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must be withheld: page faults are counted.
//! ## Source
//! None: it is made up.

#![allow(unsafe_code)] // mapping memory has no safe form

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use syscost_harness::prelude::*;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Page faults sold as stores",
    expect: &[calls(Sysno::MMAP), calls(Sysno::MUNMAP)],
    measure,
    ..Benchmark::DEFAULT
};

const PAGE: usize = 4096;

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    plan.measure(Loop::each(|| {
        // SAFETY: a fresh mapping of one page, written once and given back; nothing else refers to it.
        unsafe {
            let page = mmap_anonymous(
                std::ptr::null_mut(),
                PAGE,
                ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )?;
            page.cast::<u8>().write_volatile(1);
            munmap(page, PAGE)
        }
    }))
}
