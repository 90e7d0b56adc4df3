//! Computes one [`Estimate`] and its flags from the samples of many rounds.
//!
//! A round is one fresh process. Its median is one independent value; the estimate is the median of
//! these, with the exact interval of [`interval`]. Samples are selected by what disturbed them
//! ([`selection`]), never by size. A cost that can't be distinguished from zero is never a number,
//! neither negative nor clamped, but only a bound.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use syscost_stats::interval::{self, Interval};
use syscost_stats::{order, outliers};

use crate::{
    Measurement,
    measurement::{Better, BetweenRuns, CoreShare, EarlierRun, Estimate, Flag, RoundSamples, Unit},
};

mod again;
pub mod between;
pub mod core_share;
mod flags;
pub mod floor;
pub mod frequency;
pub mod retraced;
pub mod selection;
pub mod sharing;
mod tail;

use between::Level;
use core_share::LineSums;
use selection::{ChosenSamples, Conversion, Selection};
pub use tail::{FAST_STATE, SLOW_STATE, SLOW_STATE_PERCENT, Tail};

/// The detail that says by how much a value was converted to the usual frequency, in percent.
pub const CONVERTED: &str = "converted_to_usual_frequency_percent";

/// What the kept runs of a machine showed of one row.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KeptRuns {
    /// How its processes depended on the core's frequency, each run by itself.
    pub line: LineSums,
    /// Its level in each of the latest runs, the oldest first.
    pub levels: Vec<Level>,
}

impl KeptRuns {
    /// Whether runs can have shown this: what a damaged file holds would make an interval of it.
    pub fn is_plausible(&self) -> bool {
        self.line.is_plausible() && self.levels.iter().all(Level::is_plausible)
    }
}

/// How to judge the samples of one case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules<'a> {
    /// The unit of the samples.
    pub unit: Unit,
    /// Which of two samples is the better one.
    pub better: Better,
    /// Half width of the interval, as a share of the median, that is good enough.
    pub target_half_width: f64,
    /// Whether zero and negative values are legal: true for a skew or a count, false for a cost or
    /// a rate.
    pub signed: bool,
    /// Costs up to this, in the unit, cannot be distinguished from zero; 0 if any positive cost
    /// can.
    pub resolution: f64,
    /// Whether the result must be one of the sampled values, not a mean of two: a size out of a
    /// few.
    pub discrete: bool,
    /// Bounds of the value as far as the method can tell, if it is coarser than the differences
    /// between rounds. The interval includes both.
    pub limits: Option<(f64, f64)>,
    /// How far the clock's grain may shift a value, in its unit; the interval is widened by this at
    /// both ends.
    pub grain: f64,
    /// Individually timed operations as `(upper bound in unit, count)`, ascending; empty if there
    /// are none.
    pub histogram: &'a [(f64, u64)],
    /// What earlier runs of this machine showed; `None` if there are none.
    pub kept: Option<&'a KeptRuns>,
    /// The row as it was published, if its samples are judged again without the kept runs: its core
    /// share and the difference between runs hold.
    pub published: Option<&'a Measurement>,
}

impl Rules<'_> {
    /// The rules for a cost in `unit`: never zero or negative, 2 % half width, nothing timed
    /// individually.
    pub fn new(unit: Unit) -> Self {
        Rules {
            unit,
            better: Better::Lower,
            target_half_width: 0.02,
            signed: false,
            resolution: 0.0,
            discrete: false,
            limits: None,
            grain: 0.0,
            histogram: &[],
            kept: None,
            published: None,
        }
    }
}

/// The result for the samples.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Estimated {
    /// The numbers, in the rules' unit. All null without samples.
    pub estimate: Estimate,
    /// The median in core cycles; null if the unit is not a time or the core's frequency was not
    /// steady.
    pub core_cycles: Option<f64>,
    /// How much of it is work of the core; null if the unit is neither a time nor a rate, or the
    /// frequency is not known.
    pub core_share: Option<CoreShare>,
    /// How far runs differ in addition to their processes; null without an interval.
    pub between_runs: Option<BetweenRuns>,
    /// The earlier runs that this is learnt from.
    pub earlier: Vec<EarlierRun>,
    /// Half width of the interval over the processes alone, as a share of the median: what more
    /// rounds can narrow. Null as for [`half_width_ratio`].
    pub own_half_width: Option<f64>,
    /// What a careful reader should know, in the order of [`Flag`].
    pub flags: Vec<Flag>,
    /// Whether the cost can't be distinguished from zero; then the caller writes the reason, and
    /// `ci95_high` is the bound.
    pub below_resolution: bool,
    /// Secondary numbers, each naming its unit, e.g. `median_undisturbed_ns`.
    pub details: BTreeMap<String, f64>,
}

/// Judges the samples of all rounds of one case. All values must be finite; rounds without values
/// are ignored.
///
/// The numbers are of undisturbed samples if some processes have any: see [`selection`]. Below six
/// rounds the interval is that of [`of_few`](interval::of_few); of one there is none.
pub fn estimate(rounds: &[RoundSamples], rules: &Rules<'_>) -> Estimated {
    let core_share = match rules.published {
        Some(row) => row.core_share,
        None => core_share_of(rounds, rules),
    };
    let conversion = Conversion::new(rules.unit, core_share.map(|core| core.share));
    let selected = selection::select(rounds, conversion);
    let Some(price) = Price::of(&selected, rules, core_share) else {
        return Estimated::default();
    };
    let (median, (low, high)) = (price.level, price.whole);
    let between_runs = price.between_runs;
    let company = Selection::of(ChosenSamples::InCompany, rounds, conversion);
    let company = company.filter(|company| {
        company.rounds.len() >= MIN_IN_COMPANY || selected.choice == ChosenSamples::InCompany
    });
    let company = company.and_then(|company| Price::of(&company, rules, core_share));
    let raw_median = selected.level_of(&selected.raw_processes());
    let below_resolution = !rules.signed && low <= rules.resolution;
    let legal = |value: &f64| rules.signed || *value > 0.0;
    let samples = || selected.processes.iter().flatten().copied();

    let mut out = Estimated {
        estimate: Estimate {
            median: Some(median).filter(|_| !below_resolution),
            ci95_low: price.coverage.map(|_| low).filter(|_| !below_resolution),
            ci95_high: price.coverage.map(|_| high),
            min: samples().reduce(f64::min).filter(legal),
            best: match rules.better {
                Better::Lower => samples().reduce(f64::min),
                Better::Higher => samples().reduce(f64::max),
            }
            .filter(legal),
            mad: order::mad(&selected.medians()),
            p99: Tail::P99.of(rules.histogram).filter(legal),
            raw_median: raw_median.filter(legal),
            // The last digits are rounding errors of the sum.
            clock_grain: Some(rules.grain).filter(|grain| *grain > 0.0),
            coverage: price.coverage.map(|share| (share * 1e9).round() / 1e9),
            undisturbed_percent: selection::undisturbed_percent(rounds),
            shared_median: company.as_ref().map(|price| price.level).filter(legal),
            shared_ci95_low: company.as_ref().and_then(Price::low).filter(legal),
            shared_ci95_high: company.as_ref().and_then(Price::high).filter(legal),
            rounds: u32::try_from(selected.rounds.len()).unwrap_or(u32::MAX),
            samples: rounds.iter().map(|round| round.values.len() as u64).sum(),
        },
        below_resolution,
        ..Estimated::default()
    };
    if below_resolution {
        // An interval wholly below zero is as uncertain as it is far from zero, so its far end
        // bounds the cost too.
        let bound = low.abs().max(high.abs()).max(rules.resolution);
        // A single process that measured zero bounds nothing.
        out.estimate.ci95_high = Some(bound).filter(|bound| *bound > 0.0);
        out.estimate.min = None;
        out.estimate.best = None;
        let shared = &mut out.estimate;
        (
            shared.shared_median,
            shared.shared_ci95_low,
            shared.shared_ci95_high,
        ) = Default::default();
    }
    if !below_resolution {
        let moved = core_share.map(|core| {
            let apart = core_share::distance(&selected.rounds, rules.unit);
            let time = core_share::factor(core.share, 1.0, apart.exp());
            match rules.unit {
                Unit::Nanoseconds => time - 1.0,
                _ => 1.0 / time - 1.0,
            }
        });
        let details = [
            ("core_share_percent", core_share.map(|core| core.share)),
            (CONVERTED, moved),
            (
                "between_runs_percent",
                between_runs.map(|runs| runs.deviation),
            ),
        ];
        let known = details
            .into_iter()
            .filter_map(|(name, share)| Some((name, share?)));
        let rounded = |share: f64| (share * 1e5).round() / 1e3;
        out.details
            .extend(known.map(|(name, share)| (name.to_owned(), rounded(share))));
    }
    out.core_share = core_share;
    out.between_runs = between_runs;
    out.earlier = price.earlier;
    out.own_half_width = half_width_ratio(&Estimate {
        ci95_low: out.estimate.ci95_low.map(|_| price.own.0),
        ci95_high: out.estimate.ci95_high.map(|_| price.own.1),
        ..out.estimate
    });
    out.core_cycles = core_cycles(&selected, rules.unit)
        .filter(|_| !below_resolution)
        .filter(legal);
    let processes = selected.processes.iter();
    let outliers: usize = processes.map(|process| outliers::count(process)).sum();
    if outliers > 0 {
        out.details
            .insert("outliers_count".to_owned(), outliers as f64);
    }
    if !below_resolution {
        tail::add_details(&mut out.details, rules);
    }
    flags::add(&mut out, rounds, &selected, rules, (median, raw_median));
    out
}

/// Minimum number of processes for a price in company beside one of our own.
const MIN_IN_COMPANY: usize = 3;

/// What some samples of a row cost, and how certain that is.
#[derive(Debug, Clone)]
struct Price {
    level: f64,
    /// The interval over the processes alone; their range if there is none.
    own: (f64, f64),
    /// The interval with all else that may be off.
    whole: (f64, f64),
    /// Coverage of the interval over the processes; `None` of a single process.
    coverage: Option<f64>,
    between_runs: Option<BetweenRuns>,
    earlier: Vec<EarlierRun>,
}

impl Price {
    /// The price by the selected samples; `None` if there are none.
    fn of(
        selected: &Selection<'_>,
        rules: &Rules<'_>,
        core_share: Option<CoreShare>,
    ) -> Option<Self> {
        let medians = selected.medians();
        let level = match rules.discrete {
            true => order::high_median(&medians),
            false => selected.level(),
        }?;
        let interval = over_processes(selected, rules.better);
        let own = match interval {
            Some(interval) => (interval.low, interval.high),
            None => (level, level),
        };
        // What earlier runs differed by is of their own cores.
        let is_own = !selected.is_in_company();
        let kept = rules.kept.filter(|_| is_own);
        let share = core_share.map_or(0.0, |core| core.share);
        let usual = selected.rounds.iter().find_map(|round| round.usual_ghz);
        let earlier = kept.map_or_else(Vec::new, |kept| {
            kept.levels
                .iter()
                .map(|level| level.at(usual, share))
                .collect()
        });
        let between_runs = match rules.published {
            Some(row) if is_own && !row.flags.contains(&Flag::Disturbed) => row.between_runs,
            _ => BetweenRuns::of(selected, rules.unit, &earlier),
        }
        .filter(|_| interval.is_some() && !rules.signed && !rules.discrete);
        let beyond = Beyond {
            core_share,
            between_runs,
            grain: rules.grain,
            better: rules.better,
        };
        let (low, high) = beyond.widened(own, level, selected, rules.unit);
        let whole = rules
            .limits
            .map_or((low, high), |(min, max)| (low.min(min), high.max(max)));
        Some(Self {
            level,
            own,
            whole,
            coverage: interval.map(|interval| interval.coverage),
            between_runs,
            earlier,
        })
    }

    fn low(&self) -> Option<f64> {
        self.coverage.map(|_| self.whole.0)
    }

    fn high(&self) -> Option<f64> {
        self.coverage.map(|_| self.whole.1)
    }
}

/// The interval over the processes alone; `None` of one. That of a few reaches no farther to the better
/// side than the same over their best samples: what disturbs only adds, so the level of these lies
/// beyond that of the medians. (Simulated, it covers at most 0.4 % less.)
fn over_processes(selected: &Selection<'_>, better: Better) -> Option<Interval> {
    let medians = selected.medians();
    if let Some(exact) = interval::of_median(&medians) {
        return Some(exact);
    }
    let best = selected.processes.iter().filter_map(|process| {
        let samples = process.iter().copied();
        match better {
            Better::Lower => samples.reduce(f64::min),
            Better::Higher => samples.reduce(f64::max),
        }
    });
    let best = interval::of_few(&best.collect::<Vec<_>>())?;
    let few = interval::of_few(&medians)?;
    Some(match better {
        Better::Lower => Interval {
            low: few.low.max(best.low),
            ..few
        },
        Better::Higher => Interval {
            high: few.high.min(best.high),
            ..few
        },
    })
}

/// What a row's interval holds beyond what its processes show.
struct Beyond {
    core_share: Option<CoreShare>,
    between_runs: Option<BetweenRuns>,
    /// How far the clock's grain may shift a value, in its unit.
    grain: f64,
    better: Better,
}

impl Beyond {
    /// The whole interval, of that over the processes.
    fn widened(
        &self,
        own: (f64, f64),
        level: f64,
        selected: &Selection<'_>,
        unit: Unit,
    ) -> (f64, f64) {
        let converted = self.core_share.map_or(0.0, |core| {
            core.error_over(core_share::distance(&selected.rounds, unit))
        });
        let (low_runs, high_runs) = self.between_runs.map_or((0.0, 0.0), |runs| {
            let worse = runs.reach(runs.deviation);
            let better = runs.reach(runs.better_deviation(&selected.medians(), self.better));
            match self.better {
                Better::Lower => (better, worse),
                Better::Higher => (worse, better),
            }
        });
        let errors = (converted.hypot(low_runs), converted.hypot(high_runs));
        let (low, high) = widened(own, level, errors);
        unit.possible((low - self.grain, high + self.grain))
    }
}

/// How much of the row is work of the core, by these rounds and the kept runs.
fn core_share_of(rounds: &[RoundSamples], rules: &Rules<'_>) -> Option<CoreShare> {
    if !rules.unit.is_timed() {
        return None;
    }
    let own = Level::of(rounds, rules.unit).filter(|level| level.ghz.is_some())?;
    let kept = rules.kept.cloned().unwrap_or_default();
    let levels: Vec<Level> = kept.levels.into_iter().chain([own]).collect();
    let within = LineSums::of_rounds(rounds, rules.unit).and(kept.line);
    Some(CoreShare::of(within, &levels))
}

/// An interval around the median, widened at each end by an independent error, as a share of the
/// median. Only a positive interval has a relative error, and stays positive.
fn widened((low, high): (f64, f64), median: f64, errors: (f64, f64)) -> (f64, f64) {
    if low <= 0.0 {
        return (low, high);
    }
    let apart = |end: f64, error: f64| (end / median).ln().hypot(error).exp();
    // Without an error an end stays, to the last digit.
    (
        if errors.0 > 0.0 {
            median / apart(low, errors.0)
        } else {
            low
        },
        if errors.1 > 0.0 {
            median * apart(high, errors.1)
        } else {
            high
        },
    )
}

/// Half width of the interval (its larger side) as a share of the median; `None` without median or
/// interval, and if the interval includes zero, as the share would be meaningless.
pub fn half_width_ratio(estimate: &Estimate) -> Option<f64> {
    let (median, low, high) = (estimate.median?, estimate.ci95_low?, estimate.ci95_high?);
    if low == high {
        return Some(0.0);
    }
    (low * high > 0.0).then(|| (high - median).max(median - low) / median.abs())
}

/// The unit as the last word of a detail's name.
pub fn suffix(unit: Unit) -> &'static str {
    match unit {
        Unit::Nanoseconds => "ns",
        Unit::Bytes => "bytes",
        Unit::BytesPerSecond => "bytes_per_s",
        Unit::OperationsPerSecond => "operations_per_s",
        Unit::FlopsPerSecond => "flops_per_s",
        Unit::Gigahertz => "ghz",
        Unit::Percent => "percent",
        Unit::Count => "count",
        Unit::Ratio => "ratio",
    }
}

/// Maximum relative difference between the cycles and the median times the frequency; beyond it
/// they are from different samples.
const CYCLES_AGREE: f64 = 0.05;

/// The row's value by each sample's time times its own frequency; `None` unless
/// the unit is a time and at least half of the processes know their frequency, or if their
/// samples that do are not like those that the median is from.
fn core_cycles(selected: &Selection<'_>, unit: Unit) -> Option<f64> {
    let known: Vec<Vec<(f64, f64)>> = selected
        .rounds
        .iter()
        .map(|round| {
            // The round's frequency is that of its samples, so it stands for none of them.
            let ghz = |index: usize| match round.sample_ghz.is_empty() {
                true => round.core_ghz,
                false => round
                    .sample_ghz
                    .get(index)
                    .copied()
                    .filter(|ghz| *ghz > 0.0),
            };
            let samples = selected.choice.of(round);
            samples
                .filter_map(|(index, value)| Some((value * ghz(index)?, ghz(index)?)))
                .collect()
        })
        .filter(|samples: &Vec<_>| !samples.is_empty())
        .collect();
    if unit != Unit::Nanoseconds || 2 * known.len() < selected.rounds.len() {
        return None;
    }
    let over = |part: fn(&(f64, f64)) -> f64| {
        let processes = known.iter();
        let of_process = |samples: &Vec<(f64, f64)>| samples.iter().map(part).collect();
        selected.level_of(&processes.map(of_process).collect::<Vec<_>>())
    };
    // The median itself is at the frequency at which the cost is given.
    let measured = selected.rounds.iter().map(|round| {
        let samples = selected.choice.of(round).map(|(_, value)| value);
        samples.collect()
    });
    let measured = selected.level_of(&measured.collect::<Vec<_>>())?;
    let by_median = measured * over(|sample| sample.1)?;
    let chosen = selected
        .rounds
        .iter()
        .map(|round| selected.choice.of(round).count());
    let are_same = known.iter().map(Vec::len).sum::<usize>() == chosen.sum::<usize>();
    over(|sample| sample.0)
        .filter(|cycles| are_same || (cycles / by_median - 1.0).abs() <= CYCLES_AGREE)
}

#[cfg(test)]
mod tests;
