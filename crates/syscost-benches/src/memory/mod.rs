//! What memory charges: latency, bandwidth, faults, mappings, and lines that go from core to core.

mod chases;
mod latency;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "memory",
    title: "memory",
    benchmarks: &[latency::BENCHMARK],
    hidden: false,
};
