//! What memory charges: latency, bandwidth, faults, mappings, and lines that go from core to core.

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "memory",
    title: "memory",
    benchmarks: &[],
    hidden: false,
};
