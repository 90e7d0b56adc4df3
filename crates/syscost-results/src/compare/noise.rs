//! Runs with very different noise: their rows may differ only because of what else ran on the
//! machine.

use std::collections::BTreeMap;

use syscost_stats::{order, student};

use super::Difference;
use crate::run::Noise;
use crate::{Run, Status};

/// Prefix of these facts' names.
pub(super) const PREFIX: &str = "noise.";
/// Reported difference of the shares of time in which cores were ours, in percentage points.
const OURS_APART: f64 = 20.0;
/// Reported difference of the time lost to others: by this factor and by this many percentage
/// points.
const LOST_FACTOR: f64 = 3.0;
const LOST_APART: f64 = 0.5;
/// Reported difference of the median interval widths: by this factor and by this many percentage
/// points.
const WIDER: f64 = 2.0;
const WIDER_APART: f64 = 0.1;
/// Minimum number of rows on both sides for comparing interval widths.
const MIN_ROWS: usize = 10;

/// The noise facts in which the sides differ much.
pub(super) fn differing(base: &[&Run], new: &[&Run]) -> Vec<Difference> {
    let sides = [base, new];
    let mut found = Vec::new();
    let mut push = |fact: &str, values: [f64; 2], meaning: &str| {
        let [base, new] = values.map(|value| Some(format!("{value:.1} %")));
        found.push(Difference {
            fact: format!("{PREFIX}{fact}"),
            base,
            new,
            meaning: Some(meaning.to_owned()),
            explains: false,
        });
    };
    let ours = sides.map(|runs| {
        mean_of(runs, |noise| {
            noise.measured_alone_percent.or(noise.alone_percent)
        })
    });
    if let [Some(before), Some(after)] = ours
        && (before - after).abs() >= OURS_APART
    {
        let meaning = "very different noise: the cores were ours for very different shares of \
                       the time, so SMT interference may be what differs";
        push("cores_ours", [before, after], meaning);
    }
    let lost = sides.map(|runs| mean_of(runs, |noise| Some(noise.lost_percent)));
    if let [Some(before), Some(after)] = lost
        && (before - after).abs() >= LOST_APART
        && before.max(after) >= LOST_FACTOR * before.min(after)
    {
        let meaning = "very different noise: others took time from the CPUs that measured";
        push("time_lost", [before, after], meaning);
    }
    if let Some([before, after]) = widths(base, new)
        && (before - after).abs() >= WIDER_APART
        && before.max(after) >= WIDER * before.min(after)
    {
        let meaning = "half the width of the median row's interval: one side is known much less well, so more rows are inconclusive";
        push("half_width", [before, after], meaning);
    }
    found
}

/// The mean over the CPUs that measured, and over all runs of a side.
fn mean_of(runs: &[&Run], percent: impl Fn(&Noise) -> Option<f64>) -> Option<f64> {
    let used = runs.iter().flat_map(|run| &run.noise);
    let known: Vec<f64> = used
        .filter(|noise| noise.used)
        .filter_map(|noise| percent(noise).filter(|percent| percent.is_finite()))
        .collect();
    (!known.is_empty()).then(|| student::mean(&known))
}

/// The median over the rows of both sides of the interval's half width, in percent of the row's
/// median, for each side.
fn widths(base: &[&Run], new: &[&Run]) -> Option<[f64; 2]> {
    let of = |runs: &[&Run]| -> BTreeMap<String, f64> {
        let rows = runs.iter().flat_map(|run| &run.measurements);
        rows.filter(|row| row.status == Status::Ok)
            .filter_map(|row| {
                let (low, high) = row.estimate.ci95_low.zip(row.estimate.ci95_high)?;
                let share = 50.0 * (high - low) / row.estimate.median?.abs();
                Some((row.name.clone(), share)).filter(|(_, share)| share.is_finite())
            })
            .collect()
    };
    let (base, new) = (of(base), of(new));
    let both: Vec<(f64, f64)> = base
        .iter()
        .filter_map(|(name, before)| Some((*before, *new.get(name)?)))
        .collect();
    let (before, after): (Vec<f64>, Vec<f64>) = both.into_iter().unzip();
    if before.len() < MIN_ROWS {
        return None;
    }
    Some([order::median(&before)?, order::median(&after)?])
}
