//! The number of instructions that a core holds simultaneously, by the step in a curve.
//!
//! ## Measures
//! Nothing by itself: it is computed from the rows of `op.reorder_buffer`. Two levels are fitted to
//! their costs, that of loads that overlap and that of loads that do not; the number is where a
//! straight line between the two rows around the step is halfway up.
//! ## Does not measure
//! A size more precise than the distance between the rows, which is 32 instructions up to 544.
//! `lower_count` and `upper_count` are the two rows between which it lies; its interval contains
//! both.
//! ## Interpretation
//! Published sizes of reorder buffers are 128 to 640. Half of that is seen where a second thread of
//! the core is busy, which a virtual machine does not show. There is no number where the curve has
//! no step: loads that do not overlap must cost 1.4 times as much as those that do, and half of the
//! rise must lie between the two rows before the step and the two after it.
//! ## Source
//! Wong, Measuring Reorder Buffer Capacity (2013).

use std::collections::BTreeMap;

use syscost_harness::computed::points;
use syscost_harness::prelude::*;

use super::reorder_buffer;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Reorder-buffer size",
    tags: "rob size, out-of-order window, instruction window, out-of-order execution",
    unit: Unit::Count,
    better: Better::Higher,
    ..Benchmark::computed::<ReorderBufferSize>()
};

/// Minimum cost of loads that do not overlap, relative to loads that do.
const MIN_RISE: f64 = 1.4;

/// Minimum share of the rise that lies between the two rows before the step and the two after it.
const MIN_SHARE: f64 = 0.5;

/// Minimum number of rows on either side of a step.
const ASIDE: usize = 2;

#[derive(Params, Clone)]
struct ReorderBufferSize;

impl Computed for ReorderBufferSize {
    const FROM: &'static [&'static str] = &[id!(op::reorder_buffer)];

    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        vec![Case::only(ReorderBufferSize)]
    }

    fn compute(&self, sources: &[Source<'_>], _: &Testbed) -> Result<ComputedValue, Failure> {
        let instructions = |row: &reorder_buffer::ReorderBuffer| row.instructions as u64;
        size(&points(id!(op::reorder_buffer), sources, instructions)?)
    }
}

/// The size by the costs at these numbers of instructions.
fn size(points: &[(f64, f64)]) -> Result<ComputedValue, Failure> {
    let step = Step::of(points).ok_or_else(|| {
        Failure::Unsupported("too few rows, or none higher than the first".to_owned())
    })?;
    if step.rise < MIN_RISE || step.share < MIN_SHARE {
        return Err(Failure::Unsupported(format!(
            "the curve has no step: loads apart cost {:.2} times those together, of {MIN_RISE} at least, and {:.2} of the rise are between \
             neighbouring rows, of {MIN_SHARE} at least",
            step.rise, step.share
        )));
    }
    let evidence = |claim: &str, least: f64, observed: f64| {
        Evidence::new(
            claim,
            format!("at least {least}"),
            observed,
            "the curve",
            Verdict::Confirmed,
        )
    };
    Ok(ComputedValue {
        misfit: None,
        value: step.at,
        evidence: vec![
            evidence(
                "cost of loads apart over loads together",
                MIN_RISE,
                step.rise,
            ),
            evidence(
                "share of the rise between neighbouring rows",
                MIN_SHARE,
                step.share,
            ),
            stays(step.stay),
        ],
        limits: Some(step.between),
        details: BTreeMap::from([
            ("lower_count".to_owned(), step.between.0),
            ("upper_count".to_owned(), step.between.1),
        ]),
    })
}

/// Claims that the curve stays up, by the share of the rows after the step that are nearer to the
/// upper level. A row that is not may be noise.
fn stays(share: f64) -> Evidence {
    let claim = "share of the rows behind the step that are nearer to loads apart";
    let doubt = (share < 1.0).then_some("the curve falls again after its step");
    Evidence::new(claim, 1.0, share, "the curve", Verdict::Confirmed).unless(doubt)
}

/// The step in a curve.
#[derive(Debug, PartialEq)]
struct Step {
    /// The number of instructions at which the curve is halfway up.
    at: f64,
    /// The numbers of instructions of the rows before and after the step.
    between: (f64, f64),
    /// The level after the step relative to the one before it.
    rise: f64,
    /// The share of the rise between the nearest points.
    share: f64,
    /// The share of the points after the step that are nearer to the upper level.
    stay: f64,
}

impl Step {
    /// The step of the two levels that fit the points best, by least squares; `None` if there are
    /// too few points, or the second level is no higher.
    fn of(points: &[(f64, f64)]) -> Option<Step> {
        let level = |points: &[(f64, f64)]| {
            points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64
        };
        let squares = |points: &[(f64, f64)]| {
            let level = level(points);
            points
                .iter()
                .map(|point| (point.1 - level).powi(2))
                .sum::<f64>()
        };
        let ways = ASIDE..(points.len() + 1).saturating_sub(ASIDE);
        let (_, split) = ways
            .map(|split| (squares(&points[..split]) + squares(&points[split..]), split))
            .min_by(|a, b| a.0.total_cmp(&b.0))?;
        let (low, high) = (level(&points[..split]), level(&points[split..]));
        let (before, behind) = (points[split - 1], points[split]);
        if high <= low {
            return None;
        }
        let near = level(&points[split..split + ASIDE]) - level(&points[split - ASIDE..split]);
        let middle = f64::midpoint(low, high);
        let up = points[split..].iter().filter(|point| point.1 > middle);
        let half = (middle - before.1) / (behind.1 - before.1);
        // Between noisy rows the line may not pass the middle.
        let half = if half.is_finite() {
            half.clamp(0.0, 1.0)
        } else {
            0.5
        };
        Some(Step {
            at: before.0 + (behind.0 - before.0) * half,
            between: (before.0, behind.0),
            rise: high / low,
            share: near / (high - low),
            stay: up.count() as f64 / (points.len() - split) as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(cost: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        (2..25)
            .map(|n| (32.0 * f64::from(n), cost(32.0 * f64::from(n))))
            .collect()
    }

    #[test]
    fn a_step_is_found_between_its_rows_and_a_slope_has_none() {
        let step = Step::of(&curve(|n| if n < 500.0 { 50.0 } else { 100.0 })).unwrap();
        assert_eq!((step.at, step.between), (496.0, (480.0, 512.0)));
        assert_eq!((step.rise, step.share), (2.0, 1.0));
        let slope = Step::of(&curve(|n| 50.0 + n / 10.0)).unwrap();
        assert!(slope.rise > MIN_RISE && slope.share < 0.3, "{slope:?}");
        assert_eq!(Step::of(&curve(|_| 50.0)), None);
        assert_eq!(Step::of(&curve(|n| 500.0 - n)), None, "down is no step");
        for few in 0..2 * ASIDE {
            assert_eq!(Step::of(&curve(|n| 50.0 + n)[..few]), None);
        }
    }

    #[test]
    fn a_curve_that_comes_down_again_is_doubted() {
        let stays_up = Step::of(&curve(|n| if n < 500.0 { 50.0 } else { 100.0 })).unwrap();
        assert_eq!(stays(stays_up.stay).verdict, Verdict::Confirmed);
        let down = |n: f64| {
            if (500.0..700.0).contains(&n) {
                100.0
            } else {
                50.0
            }
        };
        let down = Step::of(&curve(down)).unwrap();
        assert!(down.rise > MIN_RISE && down.share >= MIN_SHARE, "{down:?}");
        assert_eq!(stays(down.stay).verdict, Verdict::Unverified);
    }

    #[test]
    fn a_noisy_row_before_the_step_does_not_move_it_far() {
        let noisy = |n: f64| match n {
            256.0 => 90.0,
            n if n < 500.0 => 50.0,
            _ => 100.0,
        };
        assert_eq!(Step::of(&curve(noisy)).unwrap().between, (480.0, 512.0));
    }
}
