//! The maximum bandwidth of each level of caches and of memory.
//!
//! ## Measures
//! Nothing by itself: it is the largest of the rows of `memory.bandwidth` with arrays that fit in
//! this level, of one thread or of one on each CPU. `level=1` are the rows with 24 KiB for each
//! thread, `2` those with 384 KiB, `3` those with 12 MiB, `memory` those with 512 MiB.
//! ## Does not measure
//! The machine's theoretical peak. The largest of several noisy numbers is a little too large.
//! ## Interpretation
//! The first piece of evidence is the cache that arrays of this size fit into, as the kernel
//! reports, if all threads that share it put theirs there; memory is unverified where the last
//! caches hold more than half of the arrays. The second is the row that was the largest: usually
//! one that reads and writes at the same time in a cache, which has units for both, and one that
//! only reads in memory.
//! ## Source
//! The roofs of a roofline model: Williams, Waterman and Patterson, Roofline (2009).

mod place;

use std::collections::BTreeMap;

use syscost_harness::Row;
use syscost_harness::prelude::*;
use syscost_results::{Evidence, Verdict};
use syscost_sys::cpu;
use syscost_sys::topology::Topology;

use super::bandwidth::{self, LEVELS, Setting};
use crate::scale::crowd::counts;
use place::lies_in;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "memory.peak_bandwidth",
    title: "Peak memory and cache bandwidth",
    tags: &[
        "maximum bandwidth",
        "l1",
        "l2",
        "l3",
        "roofline",
        "memory throughput",
        "bw_mem",
        "STREAM",
    ],
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    cases: Cases::Here(cases),
    derive: Some(Derive {
        from: &[bandwidth::BENCHMARK.id],
        takes,
        compute,
    }),
    source: include_str!("peak_bandwidth.rs"),
    ..Benchmark::DEFAULT
};

fn cases(_: &Here) -> Vec<Case> {
    let most = counts().last().copied().unwrap_or(1);
    let threads = [1, most].into_iter().take(most.min(2));
    LEVELS
        .iter()
        .flat_map(|level| threads.clone().map(move |threads| (level.name, threads)))
        .map(|(level, threads)| {
            Case::new([
                ("level", level.to_owned()),
                ("threads", threads.to_string()),
            ])
        })
        .collect()
}

fn takes(case: &Case, row: &Row) -> bool {
    Setting::of(&row.case).is_ok_and(|setting| {
        let level = setting.level().map(|level| level.name);
        level == Some(case.get("level")) && setting.threads as u64 == case.number("threads")
    })
}

fn compute(case: &Case, sources: &[Source<'_>]) -> Result<Derived, Failure> {
    let level = LEVELS
        .iter()
        .find(|level| level.name == case.get("level"))
        .ok_or_else(|| case.unknown("level"))?;
    let fastest = sources
        .iter()
        .max_by(|a, b| a.median.total_cmp(&b.median))
        .ok_or_else(|| Failure::Unsupported("none of its rows was measured".to_owned()))?;
    let allowed = cpu::allowed().unwrap_or_default();
    let threads = case.number("threads") as usize;
    Ok(Derived {
        value: fastest.median,
        evidence: vec![
            lies_in(level, threads, Topology::here(), &allowed),
            is_largest(fastest, sources),
        ],
        details: BTreeMap::new(),
        ..Derived::default()
    })
}

/// The row that was the largest.
fn is_largest(fastest: &Source<'_>, sources: &[Source<'_>]) -> Evidence {
    Evidence {
        claim: format!("the largest of {} rows", sources.len()),
        expected: "any".into(),
        observed: Some(
            format!(
                "{} with {}",
                fastest.case.get("op"),
                fastest.case.get("simd")
            )
            .into(),
        ),
        source: fastest.id.to_owned(),
        verdict: Verdict::Confirmed,
        reason: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_the_rows_of_a_level_counts() {
        let [read, copy] = ["read", "copy"].map(|op| Case::new([("op", op), ("simd", "avx2")]));
        let source = |case, median| Source {
            id: bandwidth::BENCHMARK.id,
            case,
            median,
        };
        let derived = compute(
            &Case::new([("level", "1"), ("threads", "1")]),
            &[source(&read, 2e9), source(&copy, 3e9)],
        )
        .unwrap();
        assert_eq!(derived.value, 3e9);
        let of_nothing = Case::new([("level", "1"), ("threads", "1")]);
        assert!(compute(&of_nothing, &[]).is_err());
    }
}
