//! Page faults on many CPUs simultaneously.
//!
//! ## Measures
//! How many first touches of anonymous memory per second all copies make together. Each copy has 64
//! separate pages; when it has written to each, it gives them all back by madvise(MADV_DONTNEED)
//! and starts again. Every operation includes a sixty-fourth of that call.
//! ## Does not measure
//! How long a fault takes, huge pages (they are forbidden here), or faults that read from a file:
//! `memory.page_fault`.
//! ## Interpretation
//! Processes share the kernel's page allocator; threads share one address space as well: its locks,
//! and each madvise must make every CPU that runs one of them invalidate the pages. The difference
//! is the price of sharing memory. The first copy runs on the measured CPU, the others as in
//! `scale.syscall`.
//! ## Source
//! will-it-scale `page_fault1`.
#![allow(unsafe_code)] // memory that is given back

use rustix::io::Errno;
use rustix::mm::{Advice, madvise};
use rustix::param::page_size;
use syscost_harness::prelude::*;

use super::copies::{Operation, ScaledCopies};

/// Pages that a copy touches in turn.
const PAGES: usize = 64;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Page fault throughput on many CPUs",
    tags: "minor fault, scalability, kernel scalability, lock contention, mmap lock, will-it-scale",
    unit: Unit::OperationsPerSecond,
    better: Better::Higher,
    expect: &[
        within(Counter::MinorFaults, 0.99, 1.01),
        exactly(Counter::Syscall(Sysno::MADVISE), 1.0 / PAGES as f64),
    ],
    ..Benchmark::by::<ScaledCopies, Fault>()
};

struct Fault;

impl Operation for Fault {
    const PROFILES: [Profile; 2] = [Profile::Standard, Profile::Standard];

    fn measure(row: ScaledCopies, plan: Plan) -> Result<Outcome, Failure> {
        let count = row.copies.0 as usize;
        plan.measure(Copied::of(row.r#as, count, PAGES as u64, |_| {
            let mut pages = Touched::reserve()?;
            Ok(move || pages.touch_all_anew())
        }))
    }
}

/// Memory whose pages are given back after all were touched.
struct Touched(Memory);

impl Touched {
    fn reserve() -> Result<Self, Unsupported> {
        Memory::reserve(PAGES * page_size(), Pages::Small).map(Touched)
    }

    fn touch_all_anew(&mut self) -> Result<(), Errno> {
        let words = page_size() / size_of::<u64>();
        for page in self.0.words().chunks_exact_mut(words) {
            // SAFETY: a reference to a word may be written through. Volatile, or the store could be left out.
            unsafe { (&raw mut page[0]).write_volatile(1) };
        }
        let (start, bytes) = (self.0.start().cast(), self.0.bytes());
        // SAFETY: the memory is ours, and its content is not needed.
        unsafe { madvise(start, bytes, Advice::LinuxDontNeed) }
    }
}
