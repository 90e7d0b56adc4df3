//! Selects the samples for an estimate: the undisturbed ones, selected by cause and never by value.

use super::frequency::are_same;
use crate::measurement::{Cause, RoundSamples, Unit};
use crate::stats::interval::MIN_VALUES;
use crate::stats::order;

/// Minimum number of undisturbed samples for a process to count, if it has as many samples.
pub const MIN_SAMPLES: usize = 3;

/// Minimum number of processes for an exact interval: if as many count, the others are left out.
pub const MIN_ROUNDS: usize = 6;

/// Costs are converted to the usual frequency if their processes scatter in cycles by at most this
/// share of their scatter in time.
const MUCH_LESS: f64 = 0.5;

/// Maximum distance, as a share, of the converted cost from that of samples at the usual frequency.
const MAX_APART: f64 = 0.01;

/// Minimum number of processes for a shared cost.
const MIN_SHARED: usize = 3;

/// The samples of one row that its numbers are from.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection<'a> {
    /// The rounds that count.
    pub rounds: Vec<&'a RoundSamples>,
    /// The samples of each that count, in the order in which they were taken.
    pub processes: Vec<Vec<f64>>,
    /// Which samples these are.
    pub choice: Choice,
}

/// Which samples were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Undisturbed ones.
    Undisturbed,
    /// Those that nothing but another frequency disturbed: there are too few at the usual one.
    AnyFrequency,
    /// The same, each converted to the usual frequency, since they agree much better in cycles than
    /// in time.
    Converted,
    /// All samples, because too few were undisturbed.
    All,
    /// All samples, because sharing of the core was not observed.
    Unlooked,
}

impl Choice {
    /// Whether a sample with this cause of disturbance counts.
    fn takes(self, cause: Cause) -> bool {
        match self {
            Choice::Undisturbed => false,
            Choice::AnyFrequency | Choice::Converted => cause == Cause::OtherFrequency,
            Choice::All | Choice::Unlooked => true,
        }
    }

    /// The samples of a round that count, with their indices.
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
    /// Whether enough of this process's samples are undisturbed, at any frequency; true if sharing
    /// was not observed.
    pub fn is_undisturbed(&self) -> bool {
        self.alone_percent.is_none() || Choice::AnyFrequency.counts(self)
    }

    /// The samples of this choice whose frequency is known, converted to this frequency as if their
    /// whole cost were core cycles; `None` if there are too few, or if the unit is neither a time
    /// nor a rate.
    pub(crate) fn at_ghz(&self, choice: Choice, unit: Unit, ghz: f64) -> Option<Vec<f64>> {
        let converted = |(index, value)| Some(value * self.factor(index, unit, ghz)?);
        let all: Vec<f64> = choice.of(self).filter_map(converted).collect();
        (all.len() >= MIN_SAMPLES.min(self.values.len())).then_some(all)
    }

    /// The factor that converts a sample to this core frequency.
    fn factor(&self, sample: usize, unit: Unit, ghz: f64) -> Option<f64> {
        let known = match self.sample_ghz.is_empty() {
            // Older documents have only the frequency of the whole process.
            true => self.core_ghz.as_ref()?,
            false => self.sample_ghz.get(sample).filter(|ghz| **ghz > 0.0)?,
        };
        match unit {
            Unit::Nanoseconds => Some(known / ghz),
            Unit::BytesPerSecond | Unit::OperationsPerSecond | Unit::FlopsPerSecond => {
                Some(ghz / known)
            }
            Unit::Bytes | Unit::Gigahertz | Unit::Percent | Unit::Count | Unit::Ratio => None,
        }
    }

    /// The samples that represent this process: its undisturbed ones, or all if these are too few.
    pub fn best(&self) -> Vec<f64> {
        let choices = [Choice::Undisturbed, Choice::AnyFrequency];
        let choice = choices.into_iter().find(|choice| choice.counts(self));
        let choice = choice.filter(|_| self.alone_percent.is_some());
        let choice = choice.unwrap_or(Choice::All);
        choice.of(self).map(|(_, value)| value).collect()
    }
}

/// This many processes with undisturbed samples are still better than all processes, whose costs
/// include sharing of the core, if they are at least this share of all.
const FEW_ROUNDS: usize = 2;
const FEW_SHARE: f64 = 0.25;

/// Selects undisturbed samples, converted to the usual frequency if they then agree much better;
/// else those at that frequency if enough processes have some, or else those at any frequency; then
/// those of a few processes; else all. Rounds without values are ignored.
pub fn select(rounds: &[RoundSamples], unit: Unit) -> Selection<'_> {
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
    let with_enough = |(choice, needed): (Choice, usize)| {
        let count = rounds.iter().filter(|round| choice.counts(round)).count();
        (count >= needed.min(rounds.len())).then_some(choice)
    };
    // Samples at all frequencies show whether a row is work of the core, and there are more of them
    // than at one frequency.
    let any = Selection::of(Choice::AnyFrequency, &rounds);
    if was_looked
        && let Some(converted) = any.converted(unit)
        && converted.agrees_with_the_usual(&rounds)
    {
        return converted;
    }
    let choice = match was_looked {
        true => [
            (Choice::Undisturbed, MIN_ROUNDS),
            (Choice::AnyFrequency, MIN_ROUNDS),
            (Choice::Undisturbed, few.clamp(MIN_VALUES, MIN_ROUNDS)),
            (Choice::AnyFrequency, few.min(MIN_ROUNDS)),
        ]
        .into_iter()
        .find_map(with_enough)
        .unwrap_or(Choice::All),
        false => Choice::Unlooked,
    };
    Selection::of(choice, &rounds)
}

/// Whether processes agree so much better in cycles than in time that their cost is work of the
/// core.
pub(crate) fn is_much_less(cycles_scatter: f64, time_scatter: f64) -> bool {
    cycles_scatter <= MUCH_LESS * time_scatter
}

/// The mean distance of processes from their median, as a share of it.
pub(crate) fn scatter(processes: &[Vec<f64>]) -> Option<f64> {
    let medians = processes
        .iter()
        .filter_map(|process| order::median(process));
    let medians: Vec<f64> = medians.collect();
    let median = order::median(&medians).filter(|median| *median != 0.0)?;
    let distances = medians.iter().map(|one| (one / median - 1.0).abs());
    Some(distances.sum::<f64>() / medians.len() as f64)
}

impl<'a> Selection<'a> {
    /// The samples of this choice, of the processes that have enough of them.
    fn of(choice: Choice, rounds: &[&'a RoundSamples]) -> Self {
        let rounds = rounds.iter().copied().filter(|round| choice.counts(round));
        let rounds: Vec<&RoundSamples> = rounds.collect();
        let values = |round: &&RoundSamples| choice.of(round).map(|(_, value)| value).collect();
        Self {
            processes: rounds.iter().map(values).collect(),
            rounds,
            choice,
        }
    }

    /// Work of the core takes the same number of cycles at any frequency; waiting for memory does
    /// not. The samples show which it is: if processes at different frequencies agree much better
    /// in cycles than in time, each sample is converted to the usual frequency. `None` if they do
    /// not.
    fn converted(self, unit: Unit) -> Option<Self> {
        let convert = |round: &&RoundSamples| round.at_ghz(self.choice, unit, round.usual_ghz?);
        let converted: Option<Vec<Vec<f64>>> = self.rounds.iter().map(convert).collect();
        let is_better = |converted: &Vec<Vec<f64>>| {
            let scatters = scatter(converted).zip(scatter(&self.processes));
            // Processes at one frequency show nothing about others, however much they agree.
            self.rounds.len() >= MIN_ROUNDS
                && scatters.is_some_and(|(cycles, time)| time > 0.0 && is_much_less(cycles, time))
        };
        let processes = converted.filter(is_better)?;
        Some(Self {
            processes,
            choice: Choice::Converted,
            ..self
        })
    }

    /// Whether the converted cost agrees with that of the samples at the usual frequency, if enough
    /// processes have some: a row that is only partly work of the core also agrees better in
    /// cycles.
    fn agrees_with_the_usual(&self, rounds: &[&RoundSamples]) -> bool {
        let direct = |round: &&RoundSamples| {
            let is_usual = |index: usize| {
                let ghz = round.sample_ghz.get(index).zip(round.usual_ghz.as_ref());
                ghz.is_some_and(|(ghz, usual)| are_same(*ghz, *usual))
            };
            let samples = Choice::AnyFrequency.of(round);
            let usual: Vec<f64> = samples
                .filter(|(index, _)| is_usual(*index))
                .map(|(_, value)| value)
                .collect();
            order::median(&usual).filter(|_| usual.len() >= MIN_SAMPLES)
        };
        let direct: Vec<f64> = rounds.iter().filter_map(direct).collect();
        if direct.len() < MIN_ROUNDS {
            return true;
        }
        let own = self.processes.iter();
        let own: Vec<f64> = own.filter_map(|process| order::median(process)).collect();
        let both = order::median(&own).zip(order::median(&direct));
        both.is_some_and(|(one, other)| (one / other - 1.0).abs() <= MAX_APART)
    }

    /// The median of each process before overhead was subtracted; that of the samples themselves if
    /// nothing was.
    pub fn raw_medians(&self) -> Vec<f64> {
        let rounds = self.rounds.iter().zip(&self.processes);
        rounds
            .filter_map(|(round, process)| match round.raw.is_empty() {
                true => order::median(process),
                false => {
                    let at_one = |index| match (self.choice, round.usual_ghz) {
                        (Choice::Converted, Some(ghz)) => {
                            round.factor(index, Unit::Nanoseconds, ghz)
                        }
                        _ => Some(1.0),
                    };
                    let raw = |(index, _)| Some(round.raw.get(index)? * at_one(index)?);
                    order::median(&self.choice.of(round).filter_map(raw).collect::<Vec<_>>())
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
        .map(|round| Choice::AnyFrequency.of(round).count())
        .sum();
    (all > 0).then(|| 100.0 * own as f64 / all as f64)
}

/// Median over processes of the samples that only a neighbour on the core disturbed; `None` with
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
