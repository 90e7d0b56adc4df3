//! How much memory can be used before loads get slower: the caches' sizes, derived from the latency curve.
//!
//! ## Measures
//! Nothing by itself: it is computed from the rows of `memory.latency` in random order, in huge
//! pages where available. `level=1` is the size at which the first plateau of that curve ends, and
//! so on: where it has risen a fifth of the way to the next. The curve is replaced by the nearest
//! one that never falls.
//! ## Does not measure
//! How the caches are built. The part of a shared cache that others use is missing; so is the part
//! of any cache that the kernel and the program itself use. Sizes are as exact as the measured
//! sizes are close to each other: a fifth for first and second caches, a third beyond.
//! ## Interpretation
//! `told_bytes` is the size that the system reports, `told_times_count` how many times the one
//! found. Where both differ by more than half there is a `?`: a virtual machine may see the size of
//! a cache that it shares with many others, and behave as if it had much less. There is a `?`, too,
//! where the system reports nothing, or has only small pages. `plateau_to_bytes` and
//! `next_plateau_from_bytes` are the sizes between which the step lies. A level without a number was
//! not found: the curve has no further step.
//! ## Source
//! Isotonic regression: Ayer et al. (Annals of Mathematical Statistics 26, 1955).

use syscost_harness::prelude::*;
use syscost_results::details::TOLD_BYTES;

use super::hierarchy::{self, reported};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Cache size, inferred from load latency",
    tags: "cache capacity, l1, l2, l3, last-level cache, llc, cache",
    unit: Unit::Bytes,
    better: Better::Higher,
    roles: roles!(
        MemoryCacheSize { level: 1 } => Role::L1Size,
        MemoryCacheSize { level: 2 } => Role::L2Size,
        MemoryCacheSize { level: 3 } => Role::L3Size,
        MemoryCacheSize { level: 4 } => Role::L4Size,
    ),
    ..Benchmark::computed::<MemoryCacheSize>()
};

#[derive(Params, Clone)]
struct MemoryCacheSize {
    /// The level of the cache, 1 being the nearest.
    level: u32,
}

impl Computed for MemoryCacheSize {
    const FROM: &'static [&'static str] = hierarchy::CACHES;

    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(MemoryCacheSize { level: 1..=4 })
    }

    fn takes(&self, other: &syscost_harness::Row) -> bool {
        hierarchy::is_of_caches(other)
    }

    fn compute(&self, sources: &[Source<'_>], here: &Testbed) -> Result<ComputedValue, Failure> {
        let curve = hierarchy::caches(sources)?;
        let (plateau, end, next) = hierarchy::step(&curve, self.level as usize)?;
        let stated = reported::cache_bytes(&here.allowed, self.level);
        let mut computed = ComputedValue {
            misfit: None,
            value: end,
            limits: hierarchy::around(&hierarchy::dense(sources)?, end),
            evidence: [hierarchy::rises(&curve), reported::is_level(stated, end)]
                .into_iter()
                .chain(hierarchy::without_translation(sources))
                .collect(),
            details: hierarchy::details_of(&plateau, &next, "bytes", 1.0).into(),
        };
        if let Some(stated) = stated {
            let reported = [(TOLD_BYTES, stated), ("told_times_count", stated / end)];
            let reported = reported.map(|(name, value)| (name.to_owned(), value));
            computed.details.extend(reported);
        }
        Ok(computed)
    }
}
