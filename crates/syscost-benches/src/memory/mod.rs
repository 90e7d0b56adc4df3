//! Memory: latency, bandwidth, faults, mappings, and lines that move from core to core.
//!
//! How long a load waits, how many bytes flow, and what it costs to get, map, protect and give
//! back pages. It covers the way from the first-level cache to main memory and other sockets, and
//! the part of the kernel that manages address spaces.
//!
//! ## First look
//! - `memory.latency{size=256M}`: a load from main memory that nothing foresaw.
//! - `memory.cache_latency{level=1}`: the same from the first-level cache; rows for the others
//!   follow.
//! - `memory.peak_bandwidth{level=memory}`: bytes a second from main memory.
//! - `memory.page_fault{kind=anonymous_write,state=fresh}`: the first touch of a page.
//! - `memory.core_to_core`: how long a line takes from one core to another and back.
//!
//! ## Benchmarks
//! `latency`, `line` and `tlb` are curves over size or distance, of which `cache_size`,
//! `cache_latency`, `line_size`, `tlb_reach` and `tlb_miss` are read. `bandwidth`, `parallelism`
//! and `loaded_latency` are about many loads at once; `numa` about nodes; `core_to_core` and
//! `false_sharing` about lines that move. `page_fault`, `mmap` to `msync`, `tlb_shootdown` and
//! `malloc` are calls into the kernel and the allocator.
//!
//! ## Disturbances
//! Other programs and guests share caches and memory channels even where they share no core. Huge
//! pages, page tables of a hypervisor and mitigations change faults and TLB misses. Where memory
//! lies differs from run to run: compare several.

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
