//! How much longer a spin of 50 µs takes than one of 5 µs.
//!
//! ## Measures
//! Whether rows that are computed from others are correct: it is the ratio of the two rows of
//! `selftest.spin`.
//! ## Does not measure
//! Anything about this machine.
//! ## Interpretation
//! It must be 10.
//! ## Source
//! Arithmetic.

use std::collections::BTreeMap;

use syscost_harness::prelude::*;
use syscost_results::{Evidence, Verdict};

use super::spin;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "selftest.ratio",
    title: "A spin of 50 µs over one of 5 µs",
    unit: Unit::Ratio,
    derive: Some(Derive {
        from: &["selftest.spin"],
        takes: |_, _| true,
        compute,
    }),
    source: include_str!("ratio.rs"),
    ..Benchmark::DEFAULT
};

fn compute(_: &Case, sources: &[Source<'_>], _: &Here) -> Result<Derived, Failure> {
    let of = |delay: u64| {
        let is = |source: &&Source<'_>| {
            let row = source.case.row::<spin::Row>();
            row.is_ok_and(|row| row.delay == Nanoseconds(delay))
        };
        sources.iter().find(is).map(|source| source.median)
    };
    let (Some(long), Some(short)) = (of(50_000), of(5_000)) else {
        return Err(Failure::Unsupported("it takes both spins".to_owned()));
    };
    Ok(Derived {
        value: long / short,
        evidence: vec![Evidence::new(
            "rows it is computed from",
            2.0,
            sources.len(),
            "this run",
            Verdict::of(sources.len() == 2),
        )],
        details: BTreeMap::new(),
        ..Derived::default()
    })
}
