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

pub(crate) const GROUP: Group = group! {
    memory: "caches, TLBs and main memory",
    latency,
    cache_size,
    cache_latency,
    tlb,
    tlb_reach,
    tlb_miss,
    line,
    line_size,
    parallelism,
    bandwidth,
    peak_bandwidth,
    instruction_fetch,
    loaded_latency,
    numa,
    numa_bandwidth,
    page_fault,
    mmap,
    munmap,
    mprotect,
    madvise,
    mremap,
    brk,
    msync,
    tlb_shootdown,
    malloc,
    core_to_core,
    false_sharing,
};
