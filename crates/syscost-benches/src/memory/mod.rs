//! What memory charges: latency, bandwidth, faults, mappings, and lines that go from core to core.

mod bandwidth;
mod cache_latency;
mod cache_size;
pub(crate) mod chases;
mod hierarchy;
mod latency;
mod line;
mod line_size;
mod loaded_latency;
mod nodes;
mod numa;
mod numa_bandwidth;
mod parallelism;
mod peak_bandwidth;
mod tlb;
mod tlb_miss;
mod tlb_reach;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "memory",
    title: "memory",
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
        loaded_latency::BENCHMARK,
        numa::BENCHMARK,
        numa_bandwidth::BENCHMARK,
    ],
    hidden: false,
};
