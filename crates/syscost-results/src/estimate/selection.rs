//! Selects the samples for an estimate, by cause and never by value, and converts them to the
//! frequency at which the row's cost is given.

use super::core_share::factor;
use crate::Measurement;
use crate::measurement::{Cause, RoundSamples, Unit};
use crate::stats::order;

/// Minimum number of undisturbed samples for a process to count, if it has as many samples.
pub const MIN_SAMPLES: usize = 3;

/// Minimum number of processes for an exact interval: if as many count, the others are left out.
pub const MIN_ROUNDS: usize = 6;

/// Minimum number of processes for a shared cost.
const MIN_SHARED: usize = 3;

/// How the samples of a row are converted to the frequency at which its cost is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conversion {
    unit: Unit,
    /// The share of the cost that is work of the core; `None` to leave samples as they are.
    share: Option<f64>,
}

impl Conversion {
    /// For samples in this unit, with this share of the cost that is work of the core.
    pub fn new(unit: Unit, share: Option<f64>) -> Self {
        Self {
            unit,
            share: share.filter(|_| unit.is_timed()),
        }
    }

    /// That of a row.
    pub fn of(row: &Measurement) -> Self {
        Self::new(row.unit, row.core_share.map(|core| core.share))
    }

    /// The factor for a sample: 1 where nothing is converted; `None` if the frequency of this
    /// sample is not known, though that of others is.
    fn factor(self, round: &RoundSamples, sample: usize) -> Option<f64> {
        let (Some(share), Some(usual), false) =
            (self.share, round.usual_ghz, round.sample_ghz.is_empty())
        else {
            return Some(1.0);
        };
        let ghz = round.sample_ghz.get(sample).filter(|ghz| **ghz > 0.0)?;
        let time = factor(share, *ghz, usual);
        Some(match self.unit {
            Unit::Nanoseconds => 1.0 / time,
            _ => time,
        })
    }
}

/// The samples of one row that its numbers are from.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection<'a> {
    /// The rounds that count.
    pub rounds: Vec<&'a RoundSamples>,
    /// The samples of each that count, in the order in which they were taken, converted.
    pub processes: Vec<Vec<f64>>,
    /// Which samples these are.
    pub choice: ChosenSamples,
    conversion: Conversion,
}

/// Which samples were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChosenSamples {
    /// Undisturbed ones.
    Undisturbed,
    /// All samples, because too few were undisturbed.
    All,
    /// All samples, because sharing of the core was not observed.
    Unlooked,
}

impl ChosenSamples {
    /// Whether a sample with this cause of disturbance counts.
    fn takes(self, cause: Cause) -> bool {
        match self {
            ChosenSamples::Undisturbed => cause == Cause::OtherFrequency,
            ChosenSamples::All | ChosenSamples::Unlooked => true,
        }
    }

    /// The samples of a round that count, as measured, with their indices.
    pub fn of(self, round: &RoundSamples) -> impl Iterator<Item = (usize, f64)> {
        let left_out = move |index: usize| {
            round.disturbed.iter().any(|disturbance| {
                disturbance.sample as usize == index && !self.takes(disturbance.cause)
            })
        };
        let values = round.values.iter().copied().enumerate();
        values.filter(move |(index, _)| !left_out(*index))
    }

    /// Whether enough of a round's samples remain for the process to count.
    pub(crate) fn counts(self, round: &RoundSamples) -> bool {
        let needed = MIN_SAMPLES.min(round.values.len());
        needed > 0 && self.of(round).count() >= needed
    }
}

impl RoundSamples {
    /// Whether the probes around a sample found the core shared.
    pub fn is_shared(&self, sample: usize) -> bool {
        match self.ratios.get(sample).zip(self.own_limit) {
            Some((ratio, limit)) => f64::from(*ratio) / 1e3 > limit,
            None => self.disturbed.iter().any(|disturbance| {
                disturbance.sample as usize == sample && disturbance.cause == Cause::SharedCore
            }),
        }
    }

    /// Whether enough of this process's samples are undisturbed; true if sharing was not observed.
    pub fn is_undisturbed(&self) -> bool {
        self.alone_percent.is_none() || ChosenSamples::Undisturbed.counts(self)
    }

    /// The samples of this choice that count, converted, with their indices.
    pub fn converted(
        &self,
        choice: ChosenSamples,
        conversion: Conversion,
    ) -> impl Iterator<Item = (usize, f64)> {
        let at_usual = move |(index, value)| {
            let factor = conversion.factor(self, index)?;
            Some((index, value * factor))
        };
        choice.of(self).filter_map(at_usual)
    }

    /// The samples that represent this process, converted: its undisturbed ones, or all if these are
    /// too few.
    pub fn best(&self, conversion: Conversion) -> Vec<f64> {
        let choice = match self.alone_percent.is_some() && ChosenSamples::Undisturbed.counts(self) {
            true => ChosenSamples::Undisturbed,
            false => ChosenSamples::All,
        };
        let samples = self.converted(choice, conversion);
        samples.map(|(_, value)| value).collect()
    }
}

/// This many processes with undisturbed samples are still better than all processes, whose costs
/// include sharing of the core, if they are at least this share of all.
const FEW_ROUNDS: usize = 2;
const FEW_SHARE: f64 = 0.25;

/// Selects the undisturbed samples if enough processes have some, else all. Rounds without values
/// are ignored.
pub fn select(rounds: &[RoundSamples], conversion: Conversion) -> Selection<'_> {
    let rounds: Vec<&RoundSamples> = rounds
        .iter()
        .filter(|round| !round.values.is_empty())
        .collect();
    let was_looked = rounds.iter().any(|round| round.alone_percent.is_some());
    // A process for which sharing was not observed does not count as undisturbed beside others for
    // which it was.
    let rounds: Vec<&RoundSamples> = rounds
        .into_iter()
        .filter(|round| !was_looked || round.alone_percent.is_some())
        .collect();
    let few = FEW_ROUNDS.max((FEW_SHARE * rounds.len() as f64).ceil() as usize);
    let undisturbed = |round: &&&RoundSamples| ChosenSamples::Undisturbed.counts(round);
    let own = rounds.iter().filter(undisturbed).count();
    let choice = match was_looked {
        true if own >= few.min(MIN_ROUNDS).min(rounds.len()) => ChosenSamples::Undisturbed,
        true => ChosenSamples::All,
        false => ChosenSamples::Unlooked,
    };
    Selection::of(choice, &rounds, conversion)
}

impl<'a> Selection<'a> {
    /// The samples of a row that its numbers are from.
    pub fn of_row(row: &'a Measurement) -> Self {
        let rounds = row.samples.as_deref().unwrap_or_default();
        select(rounds, Conversion::of(row))
    }

    /// The samples of this choice, of the processes that have enough of them.
    fn of(choice: ChosenSamples, rounds: &[&'a RoundSamples], conversion: Conversion) -> Self {
        let of_round = |round: &&'a RoundSamples| {
            let samples = round.converted(choice, conversion);
            let values: Vec<f64> = samples.map(|(_, value)| value).collect();
            (choice.counts(round) && !values.is_empty()).then_some((*round, values))
        };
        let (rounds, processes) = rounds.iter().filter_map(of_round).unzip();
        Self {
            rounds,
            processes,
            choice,
            conversion,
        }
    }

    /// The samples of a round that count, converted, with their indices; none if the round does not
    /// count.
    pub fn counted(&self, round: &RoundSamples) -> Vec<(usize, f64)> {
        match self.rounds.iter().any(|one| std::ptr::eq(*one, round)) {
            true => round.converted(self.choice, self.conversion).collect(),
            false => Vec::new(),
        }
    }

    /// The median of each process before overhead was subtracted; that of the samples themselves if
    /// nothing was.
    pub fn raw_medians(&self) -> Vec<f64> {
        let rounds = self.rounds.iter().zip(&self.processes);
        rounds
            .filter_map(|(round, process)| match round.raw.is_empty() {
                true => order::median(process),
                false => {
                    let raw = |(index, _)| {
                        let factor = self.conversion.factor(round, index)?;
                        Some(round.raw.get(index)? * factor)
                    };
                    let all: Vec<f64> = self.choice.of(round).filter_map(raw).collect();
                    order::median(&all)
                }
            })
            .collect()
    }
}

/// Share of undisturbed samples, in percent; `None` if sharing was not observed.
pub fn undisturbed_percent(rounds: &[RoundSamples]) -> Option<f64> {
    let looked = || rounds.iter().filter(|round| round.alone_percent.is_some());
    let all: usize = looked().map(|round| round.values.len()).sum();
    let own: usize = looked()
        .map(|round| ChosenSamples::Undisturbed.of(round).count())
        .sum();
    (all > 0).then(|| 100.0 * own as f64 / all as f64)
}

/// Median over processes of the samples that only SMT interference disturbed; `None` with
/// fewer than three such processes.
pub fn shared_median(rounds: &[RoundSamples]) -> Option<f64> {
    let medians: Vec<f64> = rounds
        .iter()
        .filter_map(|round| {
            let causes = |index: usize| {
                let disturbed = round.disturbed.iter();
                disturbed
                    .filter(move |one| one.sample as usize == index)
                    .map(|one| one.cause)
            };
            let is_shared = |index: usize| {
                causes(index).any(|cause| cause == Cause::SharedCore)
                    && causes(index)
                        .all(|cause| matches!(cause, Cause::SharedCore | Cause::OtherFrequency))
            };
            let values = round.values.iter().enumerate();
            let shared = values.filter(|(index, _)| is_shared(*index));
            order::median(&shared.map(|(_, value)| *value).collect::<Vec<_>>())
        })
        .collect();
    (medians.len() >= MIN_SHARED)
        .then(|| order::median(&medians))
        .flatten()
}

#[cfg(test)]
mod tests;
