//! Selects the samples for an estimate, by cause and never by value, and converts them to the
//! frequency at which the row's cost is given.

use syscost_stats::order;

use super::core_share::factor;
use crate::Measurement;
use crate::measurement::{Cause, RoundSamples, Unit};

/// Minimum number of undisturbed samples for a process to count, if it has as many samples; fewer
/// do where too few processes have that many.
pub const MIN_SAMPLES: usize = 3;

/// Minimum number of processes for an exact interval: if as many count, the others are left out.
pub const MIN_ROUNDS: usize = 6;

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

/// Which samples were chosen: never some of a core of our own and some of a shared one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChosenSamples {
    /// Undisturbed ones on a core of our own.
    Own,
    /// Those on a shared core that nothing else disturbed, because none are own.
    InCompany,
    /// All samples, because sharing of the core was not observed, or because each was disturbed by
    /// something else.
    All,
}

impl ChosenSamples {
    /// Whether this sample of a round counts.
    fn takes(self, round: &RoundSamples, sample: usize) -> bool {
        let wants_shared = match self {
            ChosenSamples::Own => false,
            ChosenSamples::InCompany => true,
            ChosenSamples::All => return true,
        };
        let others = round.disturbed.iter().filter(|one| {
            one.sample as usize == sample
                && !matches!(one.cause, Cause::SharedCore | Cause::OtherFrequency)
        });
        others.count() == 0 && round.is_shared(sample) == wants_shared
    }

    /// The samples of a round that count, as measured, with their indices.
    pub fn of(self, round: &RoundSamples) -> impl Iterator<Item = (usize, f64)> {
        let values = round.values.iter().copied().enumerate();
        values.filter(move |(index, _)| self.takes(round, *index))
    }

    /// Whether enough of a round's samples remain for the process to count.
    pub(crate) fn counts(self, round: &RoundSamples) -> bool {
        let needed = MIN_SAMPLES.min(round.values.len());
        needed > 0 && self.of(round).count() >= needed
    }
}

impl RoundSamples {
    /// Whether something else ran on the core at this sample: by what the probes around it showed,
    /// or by its tag where that was not kept.
    pub fn is_shared(&self, sample: usize) -> bool {
        match (self.ratios.get(sample), self.own_limit) {
            (Some(&ratio), Some(limit)) => ratio == u16::MAX || f64::from(ratio) / 1e3 > limit,
            // What an own core shows there is not known.
            (Some(_), None) => true,
            (None, _) => self
                .disturbed
                .iter()
                .any(|one| (one.sample as usize, one.cause) == (sample, Cause::SharedCore)),
        }
    }

    /// Whether enough of this process's samples are undisturbed; true if sharing was not observed.
    pub fn is_undisturbed(&self) -> bool {
        self.alone_percent.is_none() || ChosenSamples::Own.counts(self)
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

    /// The samples that represent this process, converted: its undisturbed ones, those in company if
    /// these are too few, or all.
    pub fn best(&self, conversion: Conversion) -> Vec<f64> {
        let counts = |choice: &ChosenSamples| self.alone_percent.is_some() && choice.counts(self);
        let choice = [ChosenSamples::Own, ChosenSamples::InCompany].into_iter();
        let choice = choice
            .into_iter()
            .find(counts)
            .unwrap_or(ChosenSamples::All);
        let samples = self.converted(choice, conversion);
        samples.map(|(_, value)| value).collect()
    }
}

/// Selects the samples of a core of our own if there are any, else those in company, else all.
/// Rounds without values are ignored.
pub fn select(rounds: &[RoundSamples], conversion: Conversion) -> Selection<'_> {
    let choices = [ChosenSamples::Own, ChosenSamples::InCompany];
    let mut found = choices.map(|choice| Selection::of(choice, rounds, conversion));
    let chosen = found.iter_mut().find_map(Option::take);
    chosen.unwrap_or_else(|| {
        let all = counting(rounds);
        Selection::taking(ChosenSamples::All, &all, 1, conversion)
    })
}

/// The rounds with values. A process for which sharing was not observed does not count beside
/// others for which it was.
fn counting(rounds: &[RoundSamples]) -> Vec<&RoundSamples> {
    let looked = |round: &RoundSamples| round.alone_percent.is_some();
    let has_values = |round: &&RoundSamples| !round.values.is_empty();
    let was_looked = rounds.iter().filter(has_values).any(looked);
    let rounds = rounds.iter().filter(has_values);
    rounds
        .filter(|round| !was_looked || looked(round))
        .collect()
}

impl<'a> Selection<'a> {
    /// The samples of a row that its numbers are from.
    pub fn of_row(row: &'a Measurement) -> Self {
        let rounds = row.samples.as_deref().unwrap_or_default();
        select(rounds, Conversion::of(row))
    }

    /// The samples of this choice where sharing was observed, of the processes that have enough of
    /// them; of all that have any where too few do. `None` without any.
    pub fn of(
        choice: ChosenSamples,
        rounds: &'a [RoundSamples],
        conversion: Conversion,
    ) -> Option<Self> {
        let mut rounds = counting(rounds);
        rounds.retain(|round| round.alone_percent.is_some());
        let enough = Self::taking(choice, &rounds, MIN_SAMPLES, conversion);
        let found = match enough.rounds.len() < MIN_ROUNDS {
            true => Self::taking(choice, &rounds, 1, conversion),
            false => enough,
        };
        (!found.rounds.is_empty()).then_some(found)
    }

    /// The samples of this choice, of the processes that have this many of them, or as many as they
    /// have samples.
    fn taking(
        choice: ChosenSamples,
        rounds: &[&'a RoundSamples],
        needed: usize,
        conversion: Conversion,
    ) -> Self {
        let of_round = |round: &&'a RoundSamples| {
            let samples = round.converted(choice, conversion);
            let values: Vec<f64> = samples.map(|(_, value)| value).collect();
            let has_enough = choice.of(round).count() >= needed.min(round.values.len());
            (has_enough && !values.is_empty()).then_some((*round, values))
        };
        let (rounds, processes) = rounds.iter().filter_map(of_round).unzip();
        Self {
            rounds,
            processes,
            choice,
            conversion,
        }
    }

    /// Whether these are in company: no own ones were seen.
    pub fn is_in_company(&self) -> bool {
        self.choice == ChosenSamples::InCompany
    }

    /// The row's value by these samples: the median of the processes' medians. A few processes in
    /// which the core was hardly ever ours count by how many own samples they have: the fewer, the
    /// more often what probes did not see is among them. (55 rows of a bad hour with two to five such
    /// processes: 90 % within 2.9 % of the own price, within 8.3 % by the median of medians.)
    pub fn level(&self) -> Option<f64> {
        self.level_of(&self.processes)
    }

    /// The same of other figures of its samples, process by process: what is told beside the value is of the same samples.
    pub(super) fn level_of(&self, processes: &[Vec<f64>]) -> Option<f64> {
        let is_few = self.choice == ChosenSamples::Own && self.processes.len() < MIN_ROUNDS;
        match is_few {
            true => order::median(&processes.concat()),
            false => order::median(&medians(processes)),
        }
    }

    /// The median of each process.
    pub fn medians(&self) -> Vec<f64> {
        medians(&self.processes)
    }

    /// The samples of a round that count, converted, with their indices; none if the round does not
    /// count.
    pub fn counted(&self, round: &RoundSamples) -> Vec<(usize, f64)> {
        match self.rounds.iter().any(|one| std::ptr::eq(*one, round)) {
            true => round.converted(self.choice, self.conversion).collect(),
            false => Vec::new(),
        }
    }

    /// The samples of each process before overhead was subtracted; these themselves if nothing was.
    pub fn raw_processes(&self) -> Vec<Vec<f64>> {
        let rounds = self.rounds.iter().zip(&self.processes);
        rounds
            .map(|(round, process)| match round.raw.is_empty() {
                true => process.clone(),
                false => {
                    let raw = |(index, _)| {
                        let factor = self.conversion.factor(round, index)?;
                        Some(round.raw.get(index)? * factor)
                    };
                    self.choice.of(round).filter_map(raw).collect()
                }
            })
            .collect()
    }
}

/// The median of each of these that has one.
fn medians(processes: &[Vec<f64>]) -> Vec<f64> {
    let processes = processes.iter();
    processes
        .filter_map(|process| order::median(process))
        .collect()
}

/// Share of undisturbed samples, in percent; `None` if sharing was not observed.
pub fn undisturbed_percent(rounds: &[RoundSamples]) -> Option<f64> {
    let looked = || rounds.iter().filter(|round| round.alone_percent.is_some());
    let all: usize = looked().map(|round| round.values.len()).sum();
    let own: usize = looked()
        .map(|round| ChosenSamples::Own.of(round).count())
        .sum();
    (all > 0).then(|| 100.0 * own as f64 / all as f64)
}

#[cfg(test)]
mod tests;
