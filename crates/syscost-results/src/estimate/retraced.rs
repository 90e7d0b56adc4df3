//! What a row's figures must be, by the samples that it was published with.

use syscost_stats::{interval, order};

use super::selection::{MIN_ROUNDS, Selection};
use super::{Beyond, core_cycles};
use crate::Measurement;
use crate::measurement::{Flag, RoundSamples};

/// What a row's samples say of its figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Retraced {
    /// They are these.
    Exactly(Figures),
    /// The median lies between these: the row is of a build that converted its samples to one
    /// frequency and did not say by which core share, or that mixed own samples and shared ones.
    Between(f64, f64),
}

/// The figures of a row, computed again from its samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    /// The median over the processes: the mean of the two middle ones, and the larger of them, which
    /// is that of a row whose result is one of a few.
    pub medians: [f64; 2],
    /// The interval as far as samples and row tell: that of the processes, with the errors that the
    /// row names. The published one may be wider, by the limits of a method; never narrower.
    pub interval: Option<(f64, f64)>,
    /// The median in core cycles.
    pub core_cycles: Option<f64>,
}

impl Retraced {
    /// What the samples of this row say; `None` if none count.
    pub fn of(row: &Measurement) -> Option<Self> {
        if mixes(row) {
            let rounds = row.samples.iter().flatten();
            let all = rounds.filter_map(|round| converted(round).or_else(|| range(round)));
            let (low, high) = around(all.collect())?;
            return Some(Retraced::Between(low, high));
        }
        let selected = Selection::of_row(row);
        if row.unit.is_timed() && row.core_share.is_none() {
            let all = selected.rounds.iter().map(|round| converted(round));
            if let Some((low, high)) = all.collect::<Option<Vec<_>>>().and_then(around) {
                return Some(Retraced::Between(low, high));
            }
        }
        let medians = selected.medians();
        let level = selected.level()?;
        // Of few processes an older build's interval was another one, but no narrower than their range.
        let own = interval::of_median(&medians)
            .map(|own| (own.low, own.high))
            .or_else(|| around(medians.iter().map(|value| (*value, *value)).collect()));
        let beyond = Beyond {
            core_share: row.core_share,
            between_runs: row.between_runs,
            grain: row.estimate.clock_grain.unwrap_or(0.0),
            better: row.better,
        };
        let whole = |own: (f64, f64)| beyond.widened(own, level, &selected, row.unit);
        Some(Retraced::Exactly(Figures {
            medians: [level, order::high_median(&medians)?],
            interval: own.map(whole),
            core_cycles: core_cycles(&selected, row.unit),
        }))
    }
}

/// Whether the row is of a build before ratios were kept, and may be a mixture of own samples and
/// shared ones, as such builds made it where few were own.
fn mixes(row: &Measurement) -> bool {
    let rounds = || row.samples.iter().flatten();
    let was_looked = rounds().any(|round| round.alone_percent.is_some());
    let own = rounds().filter(|round| round.alone_percent.is_some() && round.is_undisturbed());
    was_looked
        && rounds().all(|round| round.ratios.is_empty())
        && (row.flags.contains(&Flag::Disturbed) || own.count() < MIN_ROUNDS)
}

/// Between what a round's samples lie, whatever they were converted by; `None` if they were not.
fn converted(round: &RoundSamples) -> Option<(f64, f64)> {
    let usual = round.usual_ghz.filter(|_| !round.sample_ghz.is_empty())?;
    let ghz = round.sample_ghz.iter().filter(|ghz| **ghz > 0.0);
    let apart = ghz.map(|ghz| (ghz / usual).ln().abs());
    let factor = apart.fold(0.0, f64::max).exp();
    let (low, high) = range(round)?;
    Some((
        (low / factor).min(low * factor),
        (high / factor).max(high * factor),
    ))
}

fn range(round: &RoundSamples) -> Option<(f64, f64)> {
    around(round.values.iter().map(|value| (*value, *value)).collect())
}

/// The lowest and the highest end of these ranges.
fn around(ranges: Vec<(f64, f64)>) -> Option<(f64, f64)> {
    let ranges = ranges.into_iter();
    ranges.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
}
