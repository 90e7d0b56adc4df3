//! The length of a cache line, derived from two loads near each other.
//!
//! ## Measures
//! Nothing by itself: it is computed from the rows of `memory.line`. It is the smallest distance at
//! which the second load no longer finds what the first one fetched: where the cost is more than
//! halfway, by ratio, from that of the cheapest distance to that of the most expensive one.
//! ## Does not measure
//! Lines of other lengths in other caches: it is what a miss brings into the first.
//! ## Interpretation
//! 64 bytes on x86-64 and most of aarch64, 128 on some. Where processors fetch lines in pairs the
//! result may be a pair. `told_bytes` is the length that the system reports.
//! ## Source
//! Not part of any published experiment here.

use std::collections::BTreeMap;

use syscost_harness::computed::points;
use syscost_harness::prelude::*;
use syscost_results::details::TOLD_BYTES;

use super::hierarchy::reported;
use super::line;

/// Minimum ratio of the highest to the lowest cost; below it, nothing can be computed.
const MIN_RATIO: f64 = 1.4;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Cache line size",
    tags: "line length, cache block, line",
    unit: Unit::Bytes,
    quantity: Quantity::Choice,
    ..Benchmark::computed::<LineSize>()
};

#[derive(Params, Clone)]
struct LineSize;

impl Computed for LineSize {
    const FROM: &'static [&'static str] = &[id!(memory::line)];

    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        vec![Case::only(LineSize)]
    }

    fn compute(&self, sources: &[Source<'_>], here: &Testbed) -> Result<ComputedValue, Failure> {
        let distance = |row: &line::Line| row.distance.0;
        size(
            &points(id!(memory::line), sources, distance)?,
            &here.allowed,
        )
    }
}

/// The length by the costs at these distances in bytes, compared with what these CPUs report.
fn size(points: &[(f64, f64)], allowed: &[u32]) -> Result<ComputedValue, Failure> {
    let costs = || points.iter().map(|(_, cost)| *cost);
    let Some((hit, miss)) = costs().reduce(f64::min).zip(costs().reduce(f64::max)) else {
        return Err(Failure::Unsupported("nothing was measured".to_owned()));
    };
    let is_miss = |cost: f64| cost >= (hit * miss).sqrt();
    let ends = points.iter().find(|(_, cost)| is_miss(*cost));
    let Some((value, _)) = ends.copied().filter(|_| miss >= MIN_RATIO * hit) else {
        return Err(Failure::Unsupported(
            "at all distances the second load costs nearly the same".to_owned(),
        ));
    };
    let beyond = points.iter().filter(|(distance, _)| *distance >= value);
    let again = beyond.filter(|(_, cost)| !is_miss(*cost)).count();
    let stated = reported::line_bytes(allowed);
    Ok(ComputedValue {
        value,
        evidence: vec![
            is_one_step(again),
            reported::agrees("length of a line as the system tells it", stated, value),
        ],
        details: stated
            .map(|stated| (TOLD_BYTES.to_owned(), stated))
            .into_iter()
            .collect::<BTreeMap<_, _>>(),
        ..ComputedValue::default()
    })
}

/// Claims that no larger distance costs as little as those within a line; this many do. That may be
/// due to noise.
fn is_one_step(again: usize) -> Evidence {
    let claim = "larger distances that cost as little as smaller ones";
    let doubt = (again > 0).then_some("something disturbed a row, or lines are fetched in groups");
    Evidence::new(claim, 0.0, again, "this run", Verdict::Confirmed).unless(doubt)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length by the costs at 8, 16, 32 and so on bytes.
    fn found(costs: [f64; 7]) -> Result<f64, Failure> {
        let distances = (3..).map(|power| f64::from(1 << power));
        let points: Vec<(f64, f64)> = distances.zip(costs).collect();
        size(&points, &Testbed::plain().allowed).map(|computed| computed.value)
    }

    #[test]
    fn the_line_ends_where_the_second_load_misses() {
        assert_eq!(found([20.0, 20.5, 19.0, 39.0, 40.0, 40.0, 41.0]), Ok(64.0));
        assert_eq!(found([20.0, 20.5, 19.0, 21.0, 40.0, 40.0, 41.0]), Ok(128.0));
        assert!(matches!(found([20.0; 7]), Err(Failure::Unsupported(_))));
    }
}
