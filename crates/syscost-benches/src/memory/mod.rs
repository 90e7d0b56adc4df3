//! Memory: latency, bandwidth, faults, mappings, and lines that move from core to core.

mod bandwidth;
mod brk;
mod cache_latency;
mod cache_size;
pub(crate) mod chases;
mod core_to_core;
mod false_sharing;
mod hierarchy;
mod instruction_fetch;
mod latency;
mod line;
mod line_size;
mod loaded_latency;
mod madvise;
mod malloc;
mod mmap;
mod mprotect;
mod mremap;
mod msync;
mod munmap;
mod nodes;
mod numa;
mod numa_bandwidth;
mod page;
pub(crate) mod page_fault;
mod parallelism;
mod peak_bandwidth;
pub(crate) mod space;
mod tlb;
mod tlb_miss;
mod tlb_reach;
mod tlb_shootdown;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "memory",
    title: "caches, TLBs and main memory",
    benchmarks: &[
        latency::BENCHMARK,
        cache_size::BENCHMARK,
        cache_latency::BENCHMARK,
        tlb::BENCHMARK,
        tlb_reach::BENCHMARK,
        tlb_miss::BENCHMARK,
        line::BENCHMARK,
        line_size::BENCHMARK,
        parallelism::BENCHMARK,
        bandwidth::BENCHMARK,
        peak_bandwidth::BENCHMARK,
        instruction_fetch::BENCHMARK,
        loaded_latency::BENCHMARK,
        numa::BENCHMARK,
        numa_bandwidth::BENCHMARK,
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
        core_to_core::BENCHMARK,
        false_sharing::BENCHMARK,
    ],
    hidden: false,
};
