//! What memory charges: latency, bandwidth, faults, mappings, and lines that go from core to core.

mod core_to_core;
mod false_sharing;
mod page;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "memory",
    title: "memory",
    benchmarks: &[core_to_core::BENCHMARK, false_sharing::BENCHMARK],
    hidden: false,
};
