//! How much memory may be in use before loads get slower: the caches' sizes, read off the latency.
//!
//! ## Measures
//! Nothing by itself: it is computed from the rows of `memory.latency` in random order, in huge pages where there are any. `level=1` is the size at which the first
//! plateau of that curve ends, and so on: where it has gone a fifth of the way up to the next. The curve is taken as the nearest one that
//! only rises.
//! ## Does not measure
//! How the caches are built. What others use of a shared cache is missing; so is what the kernel and the program itself use of any. Sizes are as exact as those that
//! were measured are near: a fifth for first and second caches, a third beyond.
//! ## Reading it
//! `told_bytes` is what the system says. Where both differ by more than half there is a `?`: a virtual machine may be told the size of a cache that it shares with many others,
//! and behaves as if it had much less. There is one, too, where the system tells nothing, or has no pages but small ones. `plateau_to_bytes` and `next_plateau_from_bytes` tell between which sizes the
//! step lies. A level without a number was not found: the curve has no further step.
//! ## Source
//! Isotonic regression: Ayer et al. (Annals of Mathematical Statistics 26, 1955).

use syscost_harness::prelude::*;

use super::chases::SIZE;
use super::hierarchy::{self, LEVEL, reported};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "memory.cache_size",
    title: "Cache size, read off the latency",
    tags: &[
        "cache capacity",
        "l1",
        "l2",
        "l3",
        "last-level cache",
        "llc",
        "cache",
    ],
    unit: Unit::Bytes,
    better: Better::Higher,
    cases: Cases::Grid(&[(LEVEL, &["1", "2", "3", "4"])]),
    derive: Some(Derive {
        from: &["memory.latency"],
        takes: |_, row| hierarchy::is_of_caches(row),
        compute,
    }),
    source: include_str!("cache_size.rs"),
    ..Benchmark::DEFAULT
};

fn compute(case: &Case, sources: &[Source<'_>]) -> Result<Derived, Failure> {
    let curve = hierarchy::caches(sources)?;
    let level = case.number(LEVEL);
    let (plateau, end, next) = hierarchy::step(&curve, level as usize)?;
    let stated = reported::cache_bytes(level as u32);
    let mut derived = Derived {
        value: end,
        limits: hierarchy::around(&hierarchy::points(sources, SIZE, "memory.latency"), end),
        evidence: [hierarchy::rises(&curve), reported::is_level(stated, end)]
            .into_iter()
            .chain(hierarchy::without_translation(sources))
            .collect(),
        details: hierarchy::told_of(&plateau, &next, "bytes", 1.0).into(),
    };
    if let Some(stated) = stated {
        derived.details.insert("told_bytes".to_owned(), stated);
    }
    Ok(derived)
}
