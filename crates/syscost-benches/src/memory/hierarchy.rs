//! Shared: properties of caches and TLBs computed from latency curves.

pub(super) mod reported;
mod staircase;

use syscost_harness::Row;
use syscost_harness::computed::points;
use syscost_harness::prelude::*;
use syscost_stats::order::median;

use super::{latency, tlb};

use staircase::{MIN_POINTS, Plateau, Staircase, staircase};

/// Maximum typical distance of points from a rising curve, relative to it.
const MAX_ERROR: f64 = 0.1;

/// The benchmark of dense lines, and that of lines on separate pages.
const DENSE: &str = id!(memory::latency);
const APART: &str = id!(memory::tlb);

/// The benchmarks from which caches are computed, and the cost of translation.
pub(super) const CACHES: &[&str] = &[DENSE];
pub(super) const TRANSLATION: &[&str] = &[APART, DENSE];

/// The latency of dense lines, by the bytes of their memory.
pub(super) fn dense(sources: &[Source<'_>]) -> Result<Vec<(f64, f64)>, Failure> {
    points(DENSE, sources, |row: &latency::MemoryLatency| row.size.0)
}

/// The latency of one line per page, by the number of pages.
pub(super) fn of_pages(sources: &[Source<'_>]) -> Result<Vec<(f64, f64)>, Failure> {
    points(APART, sources, |row: &tlb::Tlb| row.count)
}

pub(super) fn is_of_caches(row: &Row) -> bool {
    let row = row.case.row::<latency::MemoryLatency>();
    row.is_some_and(|row| row.is_of_caches())
}

/// Whether the cost of translation is computed from this row: lines on separate pages, and dense
/// ones where translation disturbs least.
pub(super) fn is_of_translation(row: &Row) -> bool {
    row.benchmark.id == APART || is_of_caches(row)
}

pub(super) fn caches(sources: &[Source<'_>]) -> Result<Staircase, Failure> {
    found(&dense(sources)?)
}

/// The plateaus of the latency of one line on each of this many pages, minus the extra cost of as many dense
/// lines over that of the fewest.
pub(super) fn translation(sources: &[Source<'_>]) -> Result<Staircase, Failure> {
    let dense = dense(sources)?;
    let Some((_, nearest)) = dense.first().copied() else {
        return Err(Failure::Unsupported(
            "no dense lines were measured".to_owned(),
        ));
    };
    let lines = |count: f64| at(&dense, syscost_sys::kernel::LINE as f64 * count);
    let curve: Vec<(f64, f64)> = of_pages(sources)?
        .into_iter()
        .map(|(count, cost)| (count, nearest + cost - lines(count)))
        .collect();
    found(&curve)
}

fn found(points: &[(f64, f64)]) -> Result<Staircase, Failure> {
    staircase(points).ok_or_else(|| {
        Failure::Unsupported(format!(
            "no plateau was found in the costs of {} sizes (at least {MIN_POINTS} are needed)",
            points.len()
        ))
    })
}

/// The cost at this size, interpolated between the curve's points by the logarithm of the size.
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

/// The neighbouring sizes that were measured.
pub(super) fn around(points: &[(f64, f64)], size: f64) -> Option<(f64, f64)> {
    let after = points.partition_point(|(known, _)| *known < size);
    let below = points.get(after.checked_sub(1)?)?;
    Some((below.0, points.get(after)?.0))
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
    let steps = match plateaus.len().saturating_sub(1) {
        0 => "no step".to_owned(),
        1 => "only 1 step".to_owned(),
        steps => format!("only {steps} steps"),
    };
    Err(Failure::Unsupported(format!(
        "level {level} was not found: the curve has {steps}"
    )))
}

/// Upper bound for the size of any cache, in bytes.
const MIN_MEMORY: f64 = (64 << 20) as f64;

/// The latency of memory, over all sizes beyond that of any cache, and the claim that these are a plateau.
///
/// # Errors
/// `Unsupported` where no such size was measured, or caches cannot be distinguished from memory.
pub(super) fn memory(
    points: &[(f64, f64)],
    staircase: &Staircase,
) -> Result<(Plateau, Evidence), Failure> {
    let beyond = points.partition_point(|(size, _)| *size <= MIN_MEMORY);
    let costs: Vec<f64> = points[beyond..].iter().map(|(_, cost)| *cost).collect();
    let (Some(cost), [.., (to, _)]) = (median(&costs), points) else {
        return Err(Failure::Unsupported(format!(
            "nothing was measured beyond {:.0} MiB, which a cache may hold",
            MIN_MEMORY / f64::from(1 << 20)
        )));
    };
    let [.., _, last] = staircase.plateaus.as_slice() else {
        return Err(Failure::Unsupported(
            "the curve has no step, so caches cannot be distinguished from memory".to_owned(),
        ));
    };
    let is_plateau = last.to >= *to;
    let evidence = Evidence::new(
        "size up to which the last plateau goes",
        *to,
        last.to,
        "this run",
        Verdict::Confirmed,
    )
    .unless((!is_plateau).then_some("the curve still rises at its end"));
    let plateau = Plateau {
        from: points[beyond].0,
        to: *to,
        cost,
        ends: (points[beyond].1, points[points.len() - 1].1),
        end: None,
    };
    Ok((plateau, evidence))
}

/// The claim that a curve rises with the size, as it must.
pub(super) fn rises(staircase: &Staircase) -> Evidence {
    let error = staircase.relative_error;
    Evidence::new(
        "typical distance of its rows from a rising curve, relative to them",
        format!("at most {MAX_ERROR}"),
        error,
        "isotonic regression",
        Verdict::of(error <= MAX_ERROR),
    )
}

/// Minimum share of a step's rise that lies between its two plateaus. Below the first number it may
/// be no step; below the second the curve rises everywhere.
const MIN_SHARE: (f64, f64) = (0.5, 0.3);

/// The claim that a step is one, and not a part of a smooth curve.
///
/// # Errors
/// `Unsupported` where the curve rises evenly: this machine shows no step.
pub(super) fn is_steep(plateau: &Plateau, next: &Plateau) -> Result<Evidence, Failure> {
    let share = plateau.share_of_rise_to(next);
    let (least, spread) = MIN_SHARE;
    if share.is_nan() || share < spread {
        return Err(Failure::Unsupported(format!(
            "the curve rises without a step there: {share:.2} of the rise lie between the two plateaus, of {spread} at least"
        )));
    }
    let doubt = "the curve rises on its plateaus as well: it may have no step";
    let doubt = (share < least).then_some(doubt);
    Ok(Evidence::new(
        "share of the rise that lies between the two plateaus",
        format!("at least {least}"),
        share,
        "isotonic regression",
        Verdict::Confirmed,
    )
    .unless(doubt))
}

/// The claim, unverified for a curve in small pages, that translation has no part in it. `None` for
/// larger pages.
pub(super) fn without_translation(sources: &[Source<'_>]) -> Option<Evidence> {
    let mut rows = sources
        .iter()
        .filter_map(|source| source.case.row::<latency::MemoryLatency>());
    rows.any(|row| row.pages == Pages::Small).then(|| {
        Evidence::new(
            "pages in which translation takes no part",
            Pages::Huge.name(),
            Pages::Small.name(),
            "this run",
            Verdict::Unverified,
        )
        .because("there are no larger pages here; in small ones a step may be a TLB's")
    })
}

pub(super) fn details_of(
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
