//! Shared: what is read off the curves of memory: caches and TLBs.

pub(super) mod told;

use std::fmt::Display;

use syscost_harness::Row;
use syscost_harness::prelude::*;
use syscost_results::stats::staircase::{LEAST_POINTS, Plateau, Staircase, staircase};
use syscost_results::{Evidence, Verdict};
use syscost_sys::memory::Pages;

use super::chases::{self, BYTES};
use super::latency::ORDER;
use super::tlb::COUNT;

/// The parameter that counts levels from the core on.
pub(super) const LEVEL: &str = "level";

/// Points farther from a rising curve than this, relative to it, are no curve.
const MOST_ERROR: f64 = 0.1;

/// The points of one benchmark's rows by this parameter, from small to large.
pub(super) fn points(sources: &[Source<'_>], key: &str, id: &str) -> Vec<(f64, f64)> {
    let of_it = sources.iter().filter(|source| source.id == id);
    let mut points: Vec<(f64, f64)> = of_it
        .map(|source| (source.case.number(key) as f64, source.median))
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// Larger memory is not always had in time, and the hierarchy shall not hang on it.
const MOST_BYTES: u64 = 256 << 20;

/// Whether caches are read off this row: random order, in the largest pages, where translation disturbs least.
pub(super) fn is_of_caches(row: &Row) -> bool {
    row.case.get(ORDER) == "random"
        && row.case.get(Pages::KEY) == chases::largest().name()
        && row.case.number(BYTES) <= MOST_BYTES
}

/// Whether the cost of translation is read off this row: lines page by page, and dense ones where translation disturbs least.
pub(super) fn is_of_translation(row: &Row) -> bool {
    row.benchmark.id == "memory.tlb" || is_of_caches(row)
}

/// The plateaus of memory's latency.
pub(super) fn caches(sources: &[Source<'_>]) -> Result<Staircase, Failure> {
    found(&points(sources, BYTES, "memory.latency"))
}

/// The plateaus of the latency of a line on each of so many pages, without what as many dense lines cost more than the fewest.
pub(super) fn translation(sources: &[Source<'_>]) -> Result<Staircase, Failure> {
    let dense = points(sources, BYTES, "memory.latency");
    let Some((_, nearest)) = dense.first().copied() else {
        return Err(Failure::Unsupported(
            "no dense lines were measured".to_owned(),
        ));
    };
    let lines = |count: f64| at(&dense, syscost_sys::kernel::LINE as f64 * count);
    let curve: Vec<(f64, f64)> = points(sources, COUNT, "memory.tlb")
        .into_iter()
        .map(|(count, cost)| (count, nearest + cost - lines(count)))
        .collect();
    found(&curve)
}

fn found(points: &[(f64, f64)]) -> Result<Staircase, Failure> {
    staircase(points).ok_or_else(|| {
        Failure::Unsupported(format!(
            "no plateau is in {} sizes; it takes {LEAST_POINTS} at least",
            points.len()
        ))
    })
}

/// The cost of a curve at this size, between its points by the size's logarithm.
fn at(points: &[(f64, f64)], size: f64) -> f64 {
    let after = points.partition_point(|(known, _)| *known < size);
    match (
        after.checked_sub(1).map(|before| points[before]),
        points.get(after),
    ) {
        (Some((from, low)), Some((to, high))) => {
            low + (high - low) * (size / from).ln() / (to / from).ln()
        }
        (Some((_, cost)), None) => cost,
        (None, first) => first.map_or(f64::NAN, |(_, cost)| *cost),
    }
}

/// The plateau of this level, counted from 1, and where it ends.
///
/// # Errors
/// `Unsupported` where the curve has no such step.
pub(super) fn step(
    staircase: &Staircase,
    level: usize,
) -> Result<(Plateau, f64, Plateau), Failure> {
    let plateaus = &staircase.plateaus;
    let pair = level
        .checked_sub(1)
        .and_then(|first| plateaus.get(first..first + 2));
    if let Some(&[plateau, next]) = pair
        && let Some(end) = plateau.end
    {
        return Ok((plateau, end, next));
    }
    Err(Failure::Unsupported(format!(
        "there is no further step in the curve, which has {}",
        plateaus.len().saturating_sub(1)
    )))
}

/// What is no longer than this any cache may hold, in bytes.
const LEAST_MEMORY: f64 = (64 << 20) as f64;

/// The plateau of memory: the last one, if it goes on beyond what a cache may hold.
///
/// # Errors
/// `Unsupported` where the curve has no such plateau.
pub(super) fn memory(staircase: &Staircase) -> Result<Plateau, Failure> {
    let reason = match staircase.plateaus.as_slice() {
        [.., _, last] if last.to > LEAST_MEMORY => return Ok(*last),
        [.., _, last] => format!(
            "the last plateau goes to {:.0} MiB, which may be a cache's: beyond that nothing was measured, or it still rises",
            last.to / f64::from(1 << 20)
        ),
        _ => "the curve has no step, so nothing tells caches from memory".to_owned(),
    };
    Err(Failure::Unsupported(reason))
}

/// What a curve claims: that it rises with the size, as it must.
pub(super) fn rises(staircase: &Staircase) -> Evidence {
    let error = staircase.relative_error;
    Evidence {
        claim: "typical distance of its rows from a rising curve, relative to them".to_owned(),
        expected: format!("at most {MOST_ERROR}").into(),
        observed: Some(error.into()),
        source: "isotonic regression".to_owned(),
        verdict: match error <= MOST_ERROR {
            true => Verdict::Confirmed,
            false => Verdict::Refuted,
        },
        reason: None,
    }
}

/// What a curve in small pages cannot claim: that translation has no part in it. Nothing of one in larger pages.
pub(super) fn without_translation(sources: &[Source<'_>]) -> Option<Evidence> {
    let small = Pages::Small.name();
    let mut pages = sources.iter().map(|source| source.case.get(Pages::KEY));
    pages.any(|pages| pages == small).then(|| Evidence {
        claim: "pages in which translation takes no part".to_owned(),
        expected: Pages::Huge.name().into(),
        observed: Some(small.into()),
        source: "this run".to_owned(),
        verdict: Verdict::Unverified,
        reason: Some(
            "there are no larger pages here; in small ones a step may be a TLB's".to_owned(),
        ),
    })
}

/// A claim about a count that is known beforehand.
pub(super) fn exact(claim: impl Display, expected: usize, observed: usize) -> Evidence {
    Evidence {
        claim: claim.to_string(),
        expected: (expected as f64).into(),
        observed: Some((observed as f64).into()),
        source: "this run".to_owned(),
        verdict: match observed == expected {
            true => Verdict::Confirmed,
            false => Verdict::Refuted,
        },
        reason: None,
    }
}

/// The plateau's sizes, as details.
pub(super) fn told_of(
    plateau: &Plateau,
    next: &Plateau,
    unit: &str,
    factor: f64,
) -> [(String, f64); 2] {
    [
        (format!("plateau_to_{unit}"), factor * plateau.to),
        (format!("next_plateau_from_{unit}"), factor * next.from),
    ]
}

#[cfg(test)]
mod tests;
