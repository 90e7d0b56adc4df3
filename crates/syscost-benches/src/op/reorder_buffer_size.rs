//! How many instructions a core holds at once, by the step in a curve.
//!
//! ## Measures
//! Nothing by itself: it is computed from the rows of `op.reorder_buffer`. The number of instructions between two loads at which the cost of a load is half-way
//! between that of loads that overlap and that of loads that do not, on a straight line between the two rows around it.
//! ## Does not measure
//! A number nearer than the rows stand to each other, which is 32 instructions up to 544. `least_count` and `most_count` tell the two rows between which it lies.
//! ## Reading it
//! Published sizes of reorder buffers are 128 to 640. Half of that is seen where a second thread of the core is busy, which a virtual machine does not
//! tell. There is no number where the curve has no step: loads that do not overlap must cost 1.4 times as much as those that do, and most of the rise must lie
//! within three neighbouring rows.
//! ## Source
//! Wong, Measuring Reorder Buffer Capacity (2013).

use std::collections::BTreeMap;

use syscost_harness::prelude::*;
use syscost_results::{Evidence, Verdict};

use super::reorder_buffer::INSTRUCTIONS;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "op.reorder_buffer_size",
    title: "Instructions held at once",
    unit: Unit::Count,
    better: Better::Higher,
    quick: |_| false,
    derive: Some(Derive {
        from: &["op.reorder_buffer"],
        takes: |_, _| true,
        compute,
    }),
    source: include_str!("reorder_buffer_size.rs"),
    ..Benchmark::DEFAULT
};

/// Loads that do not overlap cost at least so many times what those cost that do.
const LEAST_RISE: f64 = 1.4;

/// This share of the rise lies between rows at most [`NEAR`] apart.
const LEAST_SHARE: f64 = 0.6;

/// Neighbours from the row before the step to the row after it.
const NEAR: usize = 2;

/// Rows at either end that tell what overlapping loads cost, and what others do.
const ENDS: usize = 2;

fn compute(_: &Case, sources: &[Source<'_>]) -> Result<Derived, Failure> {
    let mut points: Vec<(f64, f64)> = sources
        .iter()
        .map(|source| (source.case.number(INSTRUCTIONS) as f64, source.median))
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let step = Step::of(&points).ok_or_else(|| {
        Failure::Unsupported("too few rows, or none higher than the first".to_owned())
    })?;
    let evidence = |claim: &str, least: f64, observed: f64| Evidence {
        claim: claim.to_owned(),
        expected: format!("at least {least}").into(),
        observed: Some(observed.into()),
        source: "the curve".to_owned(),
        verdict: if observed >= least {
            Verdict::Confirmed
        } else {
            Verdict::Refuted
        },
        reason: (observed < least).then(|| "the curve has no step".to_owned()),
    };
    Ok(Derived {
        value: step.at,
        evidence: vec![
            evidence(
                "cost of loads apart over loads together",
                LEAST_RISE,
                step.rise,
            ),
            evidence(
                "share of the rise between neighbouring rows",
                LEAST_SHARE,
                step.share,
            ),
        ],
        details: BTreeMap::from([
            ("least_count".to_owned(), step.between.0),
            ("most_count".to_owned(), step.between.1),
        ]),
    })
}

/// Where a curve goes up.
#[derive(Debug, PartialEq)]
struct Step {
    /// Where it is half-way up.
    at: f64,
    /// The points around that.
    between: (f64, f64),
    /// How many times higher it is afterwards.
    rise: f64,
    /// The largest share of that between points near each other.
    share: f64,
}

impl Step {
    /// `None` if there are too few points, or none higher than the first.
    fn of(points: &[(f64, f64)]) -> Option<Step> {
        if points.len() < 2 * ENDS + NEAR {
            return None;
        }
        let lowest = |points: &[(f64, f64)]| {
            points
                .iter()
                .map(|point| point.1)
                .fold(f64::INFINITY, f64::min)
        };
        let (low, high) = (
            lowest(&points[..ENDS]),
            lowest(&points[points.len() - ENDS..]),
        );
        let half = f64::midpoint(low, high);
        let after = points
            .iter()
            .position(|point| point.1 >= half)
            .filter(|after| *after > 0 && high > low)?;
        let (before, after) = (points[after - 1], points[after]);
        let steepest = points
            .windows(NEAR + 1)
            .map(|near| near[NEAR].1 - near[0].1)
            .fold(0.0, f64::max);
        Some(Step {
            at: before.0 + (after.0 - before.0) * (half - before.1) / (after.1 - before.1),
            between: (before.0, after.0),
            rise: high / low,
            share: (steepest / (high - low)).min(1.0),
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
        assert!(slope.rise > LEAST_RISE && slope.share < 0.2, "{slope:?}");
        let flat = Step::of(&curve(|_| 50.0));
        assert_eq!(flat, None);
        assert_eq!(Step::of(&curve(|n| 50.0 + n)[..4]), None, "too few");
    }

    #[test]
    fn a_noisy_row_before_the_step_does_not_move_it_far() {
        let noisy = |n: f64| match n {
            n if n == 256.0 => 70.0,
            n if n < 500.0 => 50.0,
            _ => 100.0,
        };
        assert_eq!(Step::of(&curve(noisy)).unwrap().between, (480.0, 512.0));
    }
}
