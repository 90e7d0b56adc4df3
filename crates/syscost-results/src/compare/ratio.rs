//! The ratio of one row: its interval, its margin, and the chance that nothing changed.

use std::f64::consts::FRAC_PI_3;

use super::drift;
use super::frequency::{self, Ways};
use super::notes::{notes, of_frequency};
use super::pool::{Pooled, p99};
use super::{Change, ComparedIn, MIN_MARGIN, Row, same_within};
use crate::Estimate;
use crate::estimate::selection::MIN_ROUNDS;
use crate::stats::shift::{self, Shift};
use crate::stats::student::{deviation, mean};
use crate::stats::{interval, normal, order, student};

/// Minimum number of processes per side for an interval, as everywhere, and for an exact one.
pub(super) const MIN_PROCESSES: usize = interval::MIN_VALUES;
pub(super) const MIN_EXACT: usize = MIN_ROUNDS;
/// Quantile of the differences between unchanged sides that is taken as their spread.
const SPREAD_QUANTILE: f64 = 0.95;

/// The row of two pooled sides, with its verdict still to be decided; the third are the base's
/// further runs. `None` without medians.
pub(super) fn row([base, new, spread]: &[Pooled<'_>; 3]) -> Option<Row> {
    match frequency::ways(base, new, spread) {
        Ways::InTime(off) => Some(widened(row_of(base, new, spread, None)?, off)),
        Ways::AtOne(one, off) => {
            let in_cycles = row_of(&one.base, &one.new, &one.spread, one.note)?;
            Some(Row {
                compared_in: ComparedIn::CoreCycles,
                ..widened(in_cycles, off)
            })
        }
        Ways::Either(one) => {
            let in_cycles = row_of(&one.base, &one.new, &one.spread, None)?;
            Some(either(row_of(base, new, spread, one.note)?, &in_cycles))
        }
    }
}

/// The row with its interval widened by `off`, a possible error of the ratio as a logarithm.
fn widened(row: Row, off: f64) -> Row {
    Row {
        ci95_low: row.ci95_low.map(|low| low * (-off).exp()),
        ci95_high: row.ci95_high.map(|high| high * off.exp()),
        ..row
    }
}

/// A row for which it is not known which of two ways to compare is right: its interval covers both,
/// and it changed only if it did either way.
pub(super) fn either(row: Row, other: &Row) -> Row {
    let both = |one: Option<f64>, other: Option<f64>, of: fn(f64, f64) -> f64| {
        one.zip(other).map(|(one, other)| of(one, other))
    };
    Row {
        compared_in: ComparedIn::Either,
        ci95_low: both(row.ci95_low, other.ci95_low, f64::min),
        ci95_high: both(row.ci95_high, other.ci95_high, f64::max),
        p_value: both(row.p_value, other.p_value, f64::max),
        margin: row.margin.max(other.margin),
        // It must be the same in both ways.
        same_within: row.same_within.min(other.same_within),
        ..row
    }
}

/// The row of two sides as they are.
pub(super) fn row_of(
    base: &Pooled<'_>,
    new: &Pooled<'_>,
    spread: &Pooled<'_>,
    note: Option<String>,
) -> Option<Row> {
    let first = base.first?;
    let (base_median, new_median) = (base.median()?, new.median()?);
    let logs = log_medians(base).zip(log_medians(new));
    let shift = logs
        .as_ref()
        .and_then(|(left, right)| shift::of(&left.concat(), &right.concat()));
    let ratio = shift.map_or(new_median / base_median, |shift| shift.centre.exp());
    let mut notes = notes(base, new);
    match note {
        Some(note) => notes.push(note),
        None => notes.extend(of_frequency(base, new, ratio.ln())),
    }
    let grain = grain(base).hypot(grain(new));
    let stretch = logs
        .as_ref()
        .map_or(1.0, |(left, right)| drift::stretch([left, right]));
    notes.extend(drift::note(stretch));
    let uncertainty = if base.processes().min(new.processes()) < MIN_PROCESSES {
        notes.push(format!(
            "too few rounds: {} on the base side, {} on the new side, at least {MIN_PROCESSES} each are needed",
            base.processes(),
            new.processes()
        ));
        None
    } else if base.is_disturbed != new.is_disturbed {
        let note = "no interval: only one side was measured beside a neighbour, who may be the whole difference";
        notes.push(note.to_owned());
        None
    } else {
        let have_samples = base.samples.is_some() && new.samples.is_some();
        let found = match &logs {
            Some((left, right)) => {
                shift.and_then(|shift| of_processes(left, right, shift, grain, stretch))
            }
            None if have_samples => None,
            None => of_intervals(base, new, ratio),
        };
        if found.is_none() {
            notes.push(
                "no interval: its samples lie around zero, or its interval is not known".to_owned(),
            );
        }
        found
    };
    let spread = aa_spread(base, new, spread, stretch).max(grain);
    let freedom = uncertainty.as_ref().map_or(1, |found| found.freedom);
    Some(Row {
        name: first.name.clone(),
        id: first.id.clone(),
        unit: first.unit,
        better: first.better,
        compared_in: ComparedIn::Time,
        base: base_median,
        new: new_median,
        ratio,
        ci95_low: uncertainty.as_ref().map(|found| found.low),
        ci95_high: uncertainty.as_ref().map(|found| found.high),
        margin: MIN_MARGIN.max(spread.exp_m1()),
        same_within: same_within(MIN_MARGIN, spread, freedom),
        p_value: uncertainty.as_ref().map(|found| found.p_value),
        verdict: Change::Inconclusive,
        notes,
        disturbed: base.is_disturbed || new.is_disturbed,
        cycles: None,
        p99: p99(base, new),
    })
}

/// The interval and p-value of a ratio.
struct Uncertainty {
    low: f64,
    high: f64,
    p_value: f64,
    /// Degrees of freedom of the error.
    freedom: u32,
}

/// How far the clock's steps alone may shift a side's median, as a share of it.
pub(super) fn grain(side: &Pooled<'_>) -> f64 {
    let shares = side.estimates.iter().filter_map(|estimate| {
        let grain = estimate.clock_grain? / estimate.median?.abs();
        grain.is_finite().then_some(grain)
    });
    shares.fold(0.0, f64::max)
}

/// The logarithms of a side's process medians, by run; `None` without samples, or if a median is
/// not positive.
fn log_medians(side: &Pooled<'_>) -> Option<Vec<Vec<f64>>> {
    let mut runs = side.process_medians()?;
    for median in runs.iter_mut().flatten() {
        if *median <= 0.0 {
            return None;
        }
        *median = median.ln();
    }
    Some(runs)
}

/// The uncertainty of two sides with samples that lie `shift` apart. `grain` is how far the clock's
/// steps may shift both together, as a logarithm; it widens the interval. Dependent processes
/// increase the error by the factor `stretch`.
fn of_processes(
    base: &[Vec<f64>],
    new: &[Vec<f64>],
    shift: Shift,
    grain: f64,
    stretch: f64,
) -> Option<Uncertainty> {
    let means = MeanLog::of_both(base, new, stretch);
    let difference = means[0].to(&means[1]).beside(grain);
    let around = |centre: f64| {
        let chance = 1.0 - interval::CONFIDENCE;
        let reach = student::quantile_two_sided(chance, difference.freedom) * difference.error;
        (centre - reach, centre + reach)
    };
    let is_small = [base, new]
        .map(|runs| runs.iter().map(Vec::len).sum::<usize>())
        .iter()
        .any(|processes| *processes < MIN_EXACT);
    let (low, high) = if is_small {
        around(difference.distance)
    } else {
        let exact = shift.interval?;
        if means.iter().any(|mean| mean.is_of_runs) || stretch > 1.0 {
            // Processes that agree within their run but not between runs, or that resemble their
            // neighbours, are not independent.
            let (low, high) = around(shift.centre);
            (exact.low.min(low), exact.high.max(high))
        } else {
            (exact.low, exact.high)
        }
    };
    Some(Uncertainty {
        low: (low - grain).exp(),
        high: (high + grain).exp(),
        p_value: difference.p_value(),
        freedom: difference.freedom,
    })
}

/// The uncertainty of sides with a run that has no samples: from their intervals, assumed log-normal.
fn of_intervals(base: &Pooled<'_>, new: &Pooled<'_>, ratio: f64) -> Option<Uncertainty> {
    let error = log_error(&base.estimates)?.hypot(log_error(&new.estimates)?);
    let tail = (1.0 - interval::CONFIDENCE) / 2.0;
    let reach = (normal::quantile(1.0 - tail) * error).exp();
    let processes = base.processes() + new.processes();
    let difference = LogDifference {
        distance: ratio.ln(),
        error,
        freedom: processes.saturating_sub(2).max(1) as u32,
    };
    Some(Uncertainty {
        low: ratio / reach,
        high: ratio * reach,
        p_value: difference.p_value(),
        freedom: difference.freedom,
    })
}

/// The mean logarithm of a side's process medians, and its uncertainty.
struct MeanLog {
    mean: f64,
    /// Its standard error: from the spread of processes or that of runs, whichever is larger.
    error: f64,
    /// Degrees of freedom of that error.
    freedom: f64,
    /// Whether runs differ by more than their processes explain.
    is_of_runs: bool,
}

impl MeanLog {
    /// The means of the logarithms of two sides' process medians, given by run. A side with a
    /// single run does not show how much runs differ: the other side's spread is used.
    fn of_both(base: &[Vec<f64>], new: &[Vec<f64>], stretch: f64) -> [Self; 2] {
        let spreads = [base, new].map(|runs| {
            let means: Vec<f64> = runs.iter().map(|run| mean(run)).collect();
            (means.len() > 1).then(|| (deviation(&means), means.len() - 1))
        });
        [
            Self::of(base, stretch, spreads[0].or(spreads[1])),
            Self::of(new, stretch, spreads[1].or(spreads[0])),
        ]
    }

    /// `spread` is the standard deviation between runs and its degrees of freedom.
    fn of(runs: &[Vec<f64>], stretch: f64, spread: Option<(f64, usize)>) -> Self {
        let all = runs.concat();
        let by_processes = stretch * deviation(&all) / (all.len() as f64).sqrt();
        let (by_runs, freedom_of_runs) = spread.map_or((0.0, 0), |(deviation, freedom)| {
            (deviation / (runs.len() as f64).sqrt(), freedom)
        });
        let is_of_runs = by_runs > by_processes;
        let freedom = match is_of_runs {
            true => freedom_of_runs,
            false => all.len().saturating_sub(1),
        };
        MeanLog {
            mean: mean(&all),
            error: by_runs.max(by_processes),
            freedom: freedom.max(1) as f64,
            is_of_runs,
        }
    }

    /// The difference of two such means, with Welch's (1947) degrees of freedom if runs differ.
    fn to(&self, other: &MeanLog) -> LogDifference {
        let squares = [self, other].map(|side| side.error.powi(2));
        let sum = squares[0] + squares[1];
        let parts = squares[0].powi(2) / self.freedom + squares[1].powi(2) / other.freedom;
        // If only processes differ, the errors of both sides are alike, and Welch's correction
        // would needlessly cost power; but a side of a few runs has far fewer degrees of freedom
        // than the other may have.
        let is_few = self.freedom.min(other.freedom) < (MIN_EXACT - 1) as f64;
        let freedom = if (self.is_of_runs || other.is_of_runs || is_few) && parts > 0.0 {
            (sum.powi(2) / parts).floor().clamp(1.0, 1e6)
        } else {
            self.freedom + other.freedom
        };
        LogDifference {
            distance: other.mean - self.mean,
            error: sum.sqrt(),
            freedom: freedom as u32,
        }
    }
}

/// A difference of logarithms and its uncertainty.
struct LogDifference {
    distance: f64,
    error: f64,
    freedom: u32,
}

impl LogDifference {
    /// Adds the error of a shift by the clock's steps, uniform within `grain`.
    fn beside(self, grain: f64) -> Self {
        Self {
            error: self.error.hypot(grain / 3_f64.sqrt()),
            ..self
        }
    }

    fn p_value(&self) -> f64 {
        if self.distance == 0.0 {
            return 1.0;
        }
        student::two_sided(self.distance / self.error, self.freedom)
    }
}

/// The standard error of the logarithm of the median of runs without samples: each run's from its
/// interval, assumed log-normal, and the spread between runs; `None` if a run's interval is not
/// positive.
fn log_error(runs: &[&Estimate]) -> Option<f64> {
    let errors = runs
        .iter()
        .map(|run| {
            let (low, high) = (run.ci95_low?, run.ci95_high?);
            let coverage = run
                .coverage
                .unwrap_or(interval::CONFIDENCE)
                .clamp(0.5, 0.999);
            let reach = 2.0 * normal::quantile((1.0 + coverage) / 2.0);
            (low > 0.0).then(|| (high / low).ln() / reach)
        })
        .collect::<Option<Vec<f64>>>()?;
    let count = runs.len() as f64;
    let within = errors.iter().map(|error| error * error).sum::<f64>() / count / count;
    let logs: Vec<f64> = runs
        .iter()
        .filter_map(|run| run.median)
        .map(f64::ln)
        .collect();
    let between = deviation(&logs).powi(2) / count;
    Some((within + between).sqrt())
}

/// How far apart, as a logarithm, two such sides may be although nothing changed: from the spread
/// of the processes within runs, or that of a side's runs if there are several, whichever is
/// larger.
fn aa_spread(base: &Pooled<'_>, new: &Pooled<'_>, spread: &Pooled<'_>, stretch: f64) -> f64 {
    let runs = [
        [base.run_medians(), spread.run_medians()].concat(),
        new.run_medians(),
    ];
    let by_runs = distance_of_pairs(&runs) * share(base.estimates.len(), new.estimates.len());
    let by_processes = match (base.process_medians(), new.process_medians()) {
        (Some(base_runs), Some(new_runs)) => distance_of_pairs(&[base_runs, new_runs].concat()),
        // For log-normal processes the intervals give the same result.
        _ => match (log_error(&base.estimates), log_error(&new.estimates)) {
            (Some(left), Some(right)) => {
                return by_runs
                    .max(normal::quantile(0.5 + SPREAD_QUANTILE / 2.0) * left.hypot(right));
            }
            _ => 0.0,
        },
    };
    // The Hodges-Lehmann shift varies as the difference of means does, except for this factor.
    let of_shifts = stretch * FRAC_PI_3.sqrt() * share(base.processes(), new.processes());
    by_runs.max(by_processes * of_shifts)
}

/// The 95th percentile of the distances between two values of a group, over all groups; 0 without a pair.
pub(super) fn distance_of_pairs(groups: &[Vec<f64>]) -> f64 {
    let mut distances = Vec::new();
    for group in groups {
        let logs: Vec<f64> = group
            .iter()
            .filter(|value| **value > 0.0)
            .map(|value| value.ln())
            .collect();
        for (index, left) in logs.iter().enumerate() {
            distances.extend(logs[..index].iter().map(|right| (left - right).abs()));
        }
    }
    order::quantile(&distances, SPREAD_QUANTILE).unwrap_or(0.0)
}

/// The factor by which the distance of two values shrinks for medians over this many values per side.
fn share(base: usize, new: usize) -> f64 {
    ((1.0 / base as f64 + 1.0 / new as f64) / 2.0).sqrt()
}
