//! The cost of a load that hits the first cache, the second one, and so on, derived from the latency curve.
//!
//! ## Measures
//! Nothing by itself: it is computed from the rows of `memory.latency` in random order, in huge
//! pages where available. It is the median of each plateau of that curve; `level=memory` is the
//! median of all sizes beyond 64 MiB.
//! ## Does not measure
//! Latency in small pages, which adds address translation (`memory.tlb_miss`), or of a busy cache.
//! ## Interpretation
//! Levels are counted by the steps of the curve; if a cache does not end where the system says, the
//! number has a `?`, as in `memory.cache_size`. Compare levels: each is three to five times the one
//! before. Caches that are not found have no number, and the last one found may be several with
//! similar latencies. What is beyond 64 MiB is memory only if all caches together hold less: there
//! is a `?` unless the largest size is twice the size of the last cache according to the system,
//! and also if the curve still rises there. A standard run measures 256 MiB at most, a full one
//! 1 GiB.
//! ## Source
//! As `memory.cache_size`.

use std::collections::BTreeMap;

use syscost_harness::prelude::*;

use super::hierarchy::{self, reported};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Load-to-use latency by cache level",
    tags: "cache latency, memory latency, dram latency, l1, l2, l3, last-level cache, llc, cache",
    roles: roles!(
        CacheLatency { level: Level::First } => Role::L1Latency,
        CacheLatency { level: Level::Second } => Role::L2Latency,
        CacheLatency { level: Level::Third } => Role::L3Latency,
        CacheLatency { level: Level::Fourth } => Role::L4Latency,
        CacheLatency { level: Level::Memory } => Role::MemoryLatency,
    ),
    ..Benchmark::computed::<CacheLatency>()
};

/// The level of the cache, 1 being the nearest, or memory.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    #[value("1")]
    First,
    #[value("2")]
    Second,
    #[value("3")]
    Third,
    #[value("4")]
    Fourth,
    Memory,
}

#[derive(Params, Clone)]
struct CacheLatency {
    level: Level,
}

impl Computed for CacheLatency {
    const FROM: &'static [&'static str] = hierarchy::CACHES;

    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(CacheLatency { level: Level::ALL })
    }

    fn takes(&self, other: &syscost_harness::Row) -> bool {
        hierarchy::is_of_caches(other)
    }

    fn compute(&self, sources: &[Source<'_>], here: &Testbed) -> Result<ComputedValue, Failure> {
        let curve = hierarchy::caches(sources)?;
        let mut evidence = vec![hierarchy::rises(&curve)];
        let plateau = match self.level {
            Level::Memory => {
                let (plateau, claim) = hierarchy::memory(&hierarchy::dense(sources)?, &curve)?;
                evidence.push(claim);
                evidence.push(reported::is_beyond(
                    reported::last_bytes(&here.allowed),
                    plateau.to,
                ));
                plateau
            }
            Level::First | Level::Second | Level::Third | Level::Fourth => {
                let level = 1 + self.level as u32;
                let (plateau, end, _) = hierarchy::step(&curve, level as usize)?;
                evidence.push(reported::is_level(
                    reported::cache_bytes(&here.allowed, level),
                    end,
                ));
                plateau
            }
        };
        evidence.extend(hierarchy::without_translation(sources));
        Ok(ComputedValue {
            value: plateau.cost,
            evidence,
            details: BTreeMap::from([
                ("plateau_from_bytes".to_owned(), plateau.from),
                ("plateau_to_bytes".to_owned(), plateau.to),
            ]),
            ..ComputedValue::default()
        })
    }
}
