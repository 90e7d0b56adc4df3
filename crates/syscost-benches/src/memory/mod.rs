//! What memory charges: latency, bandwidth, faults, mappings, and lines that go from core to core.

mod brk;
mod madvise;
mod malloc;
mod mmap;
mod mprotect;
mod mremap;
mod msync;
mod munmap;
pub(crate) mod page_fault;
pub(crate) mod space;
mod tlb_shootdown;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "memory",
    title: "memory",
    benchmarks: &[
        page_fault::BENCHMARK,
        mmap::BENCHMARK,
        munmap::BENCHMARK,
        mprotect::BENCHMARK,
        madvise::BENCHMARK,
        mremap::BENCHMARK,
        brk::BENCHMARK,
        msync::BENCHMARK,
        tlb_shootdown::BENCHMARK,
        malloc::BENCHMARK,
    ],
    hidden: false,
};
