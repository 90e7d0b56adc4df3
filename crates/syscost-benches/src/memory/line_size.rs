//! The length of a cache line, read off two loads near to each other.
//!
//! ## Measures
//! Nothing by itself: it is computed from the rows of `memory.line`. It is the smallest distance at which the second load no longer finds what the
//! first one fetched: that costs 1.4 times as much as with the smallest distance, or more.
//! ## Does not measure
//! Lines of other lengths in other caches: it is what a miss fetches into the first.
//! ## Reading it
//! 64 bytes on x86-64 and most of aarch64, 128 on some. Where processors fetch lines in pairs it may come out as a pair. `told_bytes` is what the system says.
//! ## Source
//! Part of no published experiment here.

use std::collections::BTreeMap;

use syscost_harness::prelude::*;

use super::hierarchy::{self, told};
use super::line::DISTANCE;

/// The second load costs this many times more, or it hits the line of the first.
const MISSES: f64 = 1.4;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "memory.line_size",
    title: "Cache line",
    unit: Unit::Bytes,
    quick: |_| false,
    derive: Some(Derive {
        from: &["memory.line"],
        takes: |_, _| true,
        compute: |_, sources| compute(sources),
    }),
    source: include_str!("line_size.rs"),
    ..Benchmark::DEFAULT
};

fn compute(sources: &[Source<'_>]) -> Result<Derived, Failure> {
    let points = hierarchy::points(sources, DISTANCE, "memory.line");
    let Some((_, nearest)) = points.first().copied() else {
        return Err(Failure::Unsupported("nothing was measured".to_owned()));
    };
    let ends = points.iter().find(|(_, cost)| *cost >= MISSES * nearest);
    let Some((value, _)) = ends.copied() else {
        let furthest = points.last().map_or(0.0, |(distance, _)| *distance);
        return Err(Failure::Unsupported(format!(
            "even at {furthest:.0} bytes the second load costs no more than at {:.0}",
            points[0].0
        )));
    };
    let beyond = points.iter().filter(|(distance, _)| *distance >= value);
    let again = beyond.filter(|(_, cost)| *cost < MISSES * nearest).count();
    let told = told::line_bytes();
    Ok(Derived {
        value,
        evidence: vec![
            hierarchy::exact(
                "larger distances that cost no more than the smallest",
                0,
                again,
            ),
            told::agrees("length of a line as the system tells it", told, value),
        ],
        details: told
            .map(|told| ("told_bytes".to_owned(), told))
            .into_iter()
            .collect::<BTreeMap<_, _>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(costs: &[f64]) -> Result<f64, Failure> {
        let cases: Vec<Case> = BENCHMARK_OF_PAIRS.cases.list();
        let sources: Vec<Source<'_>> = cases
            .iter()
            .zip(costs)
            .map(|(case, median)| Source {
                id: "memory.line",
                case,
                median: *median,
            })
            .collect();
        compute(&sources).map(|derived| derived.value)
    }

    use super::super::line::BENCHMARK as BENCHMARK_OF_PAIRS;

    #[test]
    fn the_line_ends_where_the_second_load_misses() {
        assert_eq!(size(&[20.0, 20.5, 19.0, 39.0, 40.0, 40.0, 41.0]), Ok(64.0));
        assert_eq!(size(&[20.0, 20.5, 19.0, 21.0, 40.0, 40.0, 41.0]), Ok(128.0));
        assert!(matches!(size(&[20.0; 7]), Err(Failure::Unsupported(_))));
    }
}
