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

use syscost_harness::computed::points;
use syscost_harness::prelude::*;

use super::spin;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "A spin of 50 µs over one of 5 µs",
    unit: Unit::Ratio,
    ..Benchmark::computed::<SelftestRatio>()
};

#[derive(Params, Clone)]
struct SelftestRatio;

impl Computed for SelftestRatio {
    const FROM: &'static [&'static str] = &[id!(selftest::spin)];

    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        vec![Case::only(SelftestRatio)]
    }

    fn compute(&self, sources: &[Source<'_>], _: &Testbed) -> Result<ComputedValue, Failure> {
        let spins = points(id!(selftest::spin), sources, |row: &spin::SelftestSpin| {
            row.delay.0
        })?;
        let of = |delay_ns: f64| spins.iter().find(|(delay, _)| *delay == delay_ns);
        let (Some((_, long)), Some((_, short))) = (of(50_000.0), of(5_000.0)) else {
            return Err(Failure::Unsupported("it takes both spins".to_owned()));
        };
        Ok(ComputedValue {
            value: long / short,
            evidence: vec![Evidence::new(
                "rows it is computed from",
                2.0,
                sources.len(),
                "this run",
                Verdict::of(sources.len() == 2),
            )],
            ..ComputedValue::default()
        })
    }
}
