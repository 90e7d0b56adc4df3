//! What memory charges: latency, bandwidth, faults, mappings, and lines that go from core to core.

mod bandwidth;
mod peak_bandwidth;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "memory",
    title: "memory",
    benchmarks: &[bandwidth::BENCHMARK, peak_bandwidth::BENCHMARK],
    hidden: false,
};
