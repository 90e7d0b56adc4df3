//! Two sides whose cores ran at different frequencies.
//!
//! A core's frequency depends on the load of the others and may wander by a tenth within a minute, so the
//! time of work done in the core differs between runs although nothing changed. How much of a row
//! is such work is its core share: of the document, or else estimated from its own processes. By it
//! both sides are converted to one frequency.

use syscost_stats::{interval, order, student};

use super::pool::{Pooled, Process};
use crate::estimate::core_share::factor;
use crate::measurement::CoreShare;
use crate::{Measurement, Unit};

/// Sides whose frequencies differ by less than this share ran at the same frequency.
const SAME_SIDES: f64 = 0.004;

/// Minimum number of processes for an estimate.
const MIN_PROCESSES: usize = 8;

/// Work of the core alone: the same number of cycles at any frequency.
pub(super) const CYCLES: CoreShare = CoreShare {
    share: 1.0,
    low: 1.0,
    high: 1.0,
};

/// Nothing is known of a row.
const UNKNOWN: CoreShare = CoreShare {
    share: 0.5,
    low: 0.0,
    high: 1.0,
};

/// The sides of a comparison, all converted to one core frequency.
pub(super) struct AtOne<'a> {
    /// Base, new side, further runs of the base.
    pub(super) sides: [Pooled<'a>; 3],
    /// The frequency in GHz: that at which the base's costs are given, or which it mostly ran at.
    pub(super) ghz: f64,
    /// The core share at that frequency, by which they were converted.
    pub(super) share: CoreShare,
    /// Standard error of the ratio, as a logarithm, because the share is not known exactly.
    pub(super) error: f64,
}

/// The frequency in GHz at which a side's own numbers are given; `None` where they are as measured.
fn usual(side: &Pooled<'_>) -> Option<f64> {
    let row = side.first.filter(|row| row.core_share.is_some())?;
    row.samples
        .iter()
        .flatten()
        .find_map(|round| round.usual_ghz)
}

/// The sides converted to the base's frequency. `None` if they are to be compared as measured:
/// their unit is neither a time nor a rate, a frequency is not known, samples on a shared core
/// count, or nothing is known of the share of a row whose sides ran at the same frequency.
pub(super) fn at_one<'a>(sides: &[Pooled<'a>; 3]) -> Option<AtOne<'a>> {
    let [base, new, _] = sides;
    let apart = new.core_ghz? / base.core_ghz?;
    let ghz = usual(base).or(base.core_ghz)?;
    if base.is_disturbed || new.is_disturbed {
        // All samples count there, including those of a shared core.
        return None;
    }
    let share = match known(sides, ghz).or_else(|| estimated(sides)) {
        Some(share) => share,
        None if apart.ln().abs() > SAME_SIDES => UNKNOWN,
        None => return None,
    };
    let mut found = converted(sides, share, ghz)?;
    // Further runs whose frequency is not known stay as they are: this can only increase the
    // differences between them.
    if found.sides[2].estimates.len() < sides[2].estimates.len() {
        found.sides[2] = sides[2].clone();
    }
    Some(found)
}

/// The sides converted to this frequency in GHz by this share; `None` if the unit is neither a time
/// nor a rate, or if a run's frequency is not known. Further runs whose frequency is not known are
/// left out.
pub(super) fn converted<'a>(
    sides: &[Pooled<'a>; 3],
    share: CoreShare,
    ghz: f64,
) -> Option<AtOne<'a>> {
    let unit = sides[0].first?.unit;
    let is_rate = is_rate(unit)?;
    let [base, new, spread] = sides.each_ref().map(|side| {
        side.mapped(|process| {
            let at = |(value, own): (f64, f64)| match is_rate {
                true => value * factor(share.share, own, ghz),
                false => value / factor(share.share, own, ghz),
            };
            process.at_one(ghz, at)
        })
    });
    let is_whole = |one: &Pooled<'_>, of: &Pooled<'_>| one.estimates.len() == of.estimates.len();
    if !is_whole(&base, &sides[0]) || !is_whole(&new, &sides[1]) {
        return None;
    }
    let apart = |share: f64| {
        let of = |side: &Pooled<'_>| Some(factor(share, side.core_ghz?, ghz).ln());
        Some(of(&sides[1])? - of(&sides[0])?)
    };
    let middle = apart(share.share)?;
    let off = [share.low, share.high].map(|end| apart(end).map(|end| (end - middle).abs()));
    let off = off[0]?.max(off[1]?);
    let chance = 1.0 - interval::CONFIDENCE;
    Some(AtOne {
        sides: [base, new, spread],
        ghz,
        share,
        error: off / syscost_stats::normal::quantile(1.0 - chance / 2.0),
    })
}

/// Whether the unit is a rate, which is converted inversely; `None` if it is neither a time nor a
/// rate.
fn is_rate(unit: Unit) -> Option<bool> {
    unit.is_timed().then_some(unit != Unit::Nanoseconds)
}

/// The core share at this frequency in GHz according to the documents: the mean of what they say,
/// which holds each of them.
fn known(sides: &[Pooled<'_>; 3], ghz: f64) -> Option<CoreShare> {
    let all: Vec<CoreShare> = sides[..2]
        .iter()
        .flat_map(|side| &side.rows)
        .filter_map(|row| share_at(row, ghz))
        .collect();
    let mean = |of: fn(&CoreShare) -> f64| student::mean(&all.iter().map(of).collect::<Vec<_>>());
    let shares = || all.iter().map(|one| one.share);
    (!all.is_empty()).then(|| CoreShare {
        share: mean(|one| one.share),
        low: shares().fold(mean(|one| one.low), f64::min),
        high: shares().fold(mean(|one| one.high), f64::max),
    })
}

/// A document's core share restated for this frequency in GHz.
fn share_at(row: &Measurement, ghz: f64) -> Option<CoreShare> {
    let of = row.core_share?;
    let usual = row.samples.iter().flatten().find_map(|one| one.usual_ghz)?;
    let at = |share: f64| {
        let cycles = share.clamp(0.0, 1.0) * usual / ghz;
        cycles / (cycles + 1.0 - share.clamp(0.0, 1.0))
    };
    Some(CoreShare {
        share: at(of.share),
        low: at(of.low),
        high: at(of.high),
    })
}

/// The core share according to the processes of all runs, each run by itself, so that a change
/// between them has no influence: the slope of the cost's logarithm over that of the cycle's length.
/// `None` with too few processes, or if they ran at one frequency.
fn estimated(sides: &[Pooled<'_>; 3]) -> Option<CoreShare> {
    let is_rate = is_rate(sides[0].first?.unit)?;
    let (mut points, mut runs) = (Vec::new(), 0);
    for run in sides.iter().flat_map(|side| side.runs.iter().flatten()) {
        let point = |process: &Process| {
            let cost = process.median().filter(|cost| *cost > 0.0)?.ln();
            let cycle = -process.ghz()?.ln();
            Some((cycle, if is_rate { -cost } else { cost }))
        };
        let of_run: Vec<(f64, f64)> = run.iter().filter_map(point).collect();
        let middle =
            |of: fn(&(f64, f64)) -> f64| student::mean(&of_run.iter().map(of).collect::<Vec<_>>());
        let (cycle, cost) = (middle(|point| point.0), middle(|point| point.1));
        points.extend(of_run.iter().map(|point| (point.0 - cycle, point.1 - cost)));
        runs += usize::from(!of_run.is_empty());
    }
    let sum = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>();
    let spread = sum(|(cycle, _)| cycle * cycle);
    let freedom = points.len().saturating_sub(runs + 1);
    if points.len() < MIN_PROCESSES || freedom == 0 || spread <= f64::EPSILON {
        return None;
    }
    let slope = sum(|(cycle, cost)| cycle * cost) / spread;
    let left: f64 = points
        .iter()
        .map(|(cycle, cost)| (cost - slope * cycle).powi(2))
        .sum();
    let error = (left / freedom as f64 / spread).sqrt();
    let reach = error * student::quantile_two_sided(1.0 - interval::CONFIDENCE, freedom as u32);
    let [low, high] = [slope - reach, slope + reach].map(|end| end.clamp(0.0, 1.0));
    // An interval over all shares shows nothing.
    (high - low < 1.0).then_some(CoreShare {
        share: slope.clamp(0.0, 1.0),
        low,
        high,
    })
}

/// The median of some frequencies.
pub(super) fn middle(ghz: impl Iterator<Item = f64>) -> Option<f64> {
    order::median(&ghz.collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests;
