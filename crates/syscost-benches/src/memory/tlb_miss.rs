//! The extra cost of a load whose translation is not in the first TLB, or in none.
//!
//! ## Measures
//! Nothing by itself: it is computed like `memory.tlb_reach`, and gives the height of its steps.
//! `level=1` is the extra cost of a load that misses the first TLB and finds its translation in the
//! second, `level=2` that of one that misses both and requires a page table walk.
//! ## Does not measure
//! Page faults: all pages are present. Walks whose page tables are in memory: here they are few
//! enough to be cached.
//! ## Interpretation
//! Some 7 core cycles to the second TLB on most processors, 20 to 40 for a walk, and more in a
//! virtual machine, where each step of a walk is translated by the host's page tables. Only the
//! part that is not hidden is visible.
//! ## Source
//! As `memory.cache_size`.

use std::collections::BTreeMap;

use syscost_harness::prelude::*;

use super::hierarchy;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "TLB miss penalty",
    tags: "translation lookaside buffer, dtlb, stlb, page walk, page table walk, tlb",
    roles: roles!(
        TlbMiss { level: 1 } => Role::L1TlbMiss,
        TlbMiss { level: 2 } => Role::L2TlbMiss,
    ),
    ..Benchmark::computed::<TlbMiss>()
};

#[derive(Params, Clone)]
struct TlbMiss {
    /// The level of the TLB that is missed, 1 being the nearest.
    level: usize,
}

impl Computed for TlbMiss {
    const FROM: &'static [&'static str] = hierarchy::TRANSLATION;

    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(TlbMiss { level: 1..=2 })
    }

    fn takes(&self, other: &syscost_harness::Row) -> bool {
        hierarchy::is_of_translation(other)
    }

    fn compute(&self, sources: &[Source<'_>], _: &Testbed) -> Result<ComputedValue, Failure> {
        let curve = hierarchy::translation(sources)?;
        let (plateau, _, next) = hierarchy::step(&curve, self.level)?;
        Ok(ComputedValue {
            value: next.cost - curve.plateaus[0].cost,
            evidence: vec![
                hierarchy::rises(&curve),
                hierarchy::is_steep(&plateau, &next)?,
            ],
            details: BTreeMap::from([
                ("from_pages_count".to_owned(), next.from),
                ("to_pages_count".to_owned(), next.to),
            ]),
            ..ComputedValue::default()
        })
    }
}
