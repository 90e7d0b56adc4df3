//! How much memory a TLB covers in small pages, derived from the latency of one line per page.
//!
//! ## Measures
//! Nothing by itself: it is computed from the rows of `memory.tlb`, and of `memory.latency` in
//! random order, in huge pages where available. From the latency of one line on each of this
//! many pages it subtracts the extra cost of as many dense lines over that of the fewest; what is left rises
//! when a TLB no longer holds all translations. `level=1` is the memory covered where the first
//! plateau ends, `level=2` that where the second does. Most of the rise must lie between a plateau
//! and the next: a curve that rises evenly has no step.
//! ## Does not measure
//! TLBs for instructions, or for huge pages, which often have separate entries.
//! ## Interpretation
//! `pages_count` is the number of pages, close to the number of entries. Neighbouring pages that
//! are also adjacent in physical memory may share an entry on some processors, so there may seem to
//! be more. In a virtual machine a TLB entry holds both translations combined.
//! ## Source
//! As `memory.cache_size`.

use syscost_harness::prelude::*;

use super::hierarchy;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "TLB reach",
    tags: "translation lookaside buffer, dtlb, stlb, tlb size, tlb entries, tlb",
    unit: Unit::Bytes,
    better: Better::Higher,
    roles: roles!(
        TlbReach { level: 1 } => Role::L1TlbReach,
        TlbReach { level: 2 } => Role::L2TlbReach,
    ),
    ..Benchmark::computed::<TlbReach>()
};

#[derive(Params, Clone)]
struct TlbReach {
    /// The level of the TLB, 1 being the nearest.
    level: usize,
}

impl Computed for TlbReach {
    const FROM: &'static [&'static str] = hierarchy::TRANSLATION;

    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(TlbReach { level: 1..=2 })
    }

    fn takes(&self, other: &syscost_harness::Row) -> bool {
        hierarchy::is_of_translation(other)
    }

    fn compute(&self, sources: &[Source<'_>], _: &Testbed) -> Result<ComputedValue, Failure> {
        let curve = hierarchy::translation(sources)?;
        let (plateau, end, next) = hierarchy::step(&curve, self.level)?;
        let page = Pages::Small.bytes()? as f64;
        let mut computed = ComputedValue {
            misfit: None,
            value: page * end,
            limits: hierarchy::around(&hierarchy::of_pages(sources)?, end)
                .map(|(below, above)| (page * below, page * above)),
            evidence: vec![
                hierarchy::rises(&curve),
                hierarchy::is_steep(&plateau, &next)?,
            ],
            details: hierarchy::details_of(&plateau, &next, "bytes", page).into(),
        };
        computed.details.insert("pages_count".to_owned(), end);
        Ok(computed)
    }
}
