//! The frequency at which each row's cost is given.

use std::collections::BTreeMap;

use syscost_results::RoundSamples;
use syscost_results::estimate::frequency;
use syscost_stats::order::{median, quantile};

/// Work that lowers the core's clock does so in nearly every process: in three of four it runs at
/// less than this share of what the other rows of the same round ran at on the same CPU.
const LOWERED: f64 = 0.97;

/// Minimum number of processes for such a statement.
const MIN_ROUNDS: usize = 4;

/// Costs are given at the machine's usual frequency if the run's own is at most this many times as
/// high or as low: other cores' load changes a frequency by less, and what lies farther away (a laptop
/// without its charger, a damaged file) would be a figure that nothing here could show.
const MAX_DISTANCE: f64 = 1.25;

#[derive(Debug, Clone, Default)]
pub(super) struct Frequencies {
    /// The one at which costs are given, in GHz.
    usual: Option<f64>,
    is_of_machine: bool,
    /// Median over the rows, by round and CPU.
    by_round: BTreeMap<(u32, u32), f64>,
}

impl Frequencies {
    /// Those of these rows' rounds. Costs are given at the machine's usual one, if it is known and
    /// near, or else at that of the run: the one that both runs of a pair have in `common`, if any. A
    /// run whose samples know no frequency has none: nothing can be converted.
    pub(super) fn of<'a>(
        machine: Option<f64>,
        common: Option<f64>,
        rounds: impl Iterator<Item = &'a RoundSamples> + Clone,
    ) -> Self {
        let mut all: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
        for round in rounds.clone() {
            let at = all.entry((round.round, round.cpu)).or_default();
            at.extend(of_round(round));
        }
        let middle = |(at, ghz): ((u32, u32), Vec<f64>)| Some((at, median(&ghz)?));
        let own = common.or_else(|| frequency::usual(frequency::known(rounds)));
        let near = 1.0 / MAX_DISTANCE..=MAX_DISTANCE;
        let is_near = |usual: &f64| own.is_some_and(|own| near.contains(&(usual / own)));
        let machine = machine.filter(|usual| *usual > 0.0 && is_near(usual));
        Self {
            usual: machine.or(own),
            is_of_machine: machine.is_some(),
            by_round: all.into_iter().filter_map(middle).collect(),
        }
    }

    pub(super) fn usual(&self) -> Option<f64> {
        self.usual
    }

    /// Whether that is the machine's usual one, by earlier runs; else it is this run's.
    pub(super) fn is_of_machine(&self) -> bool {
        self.is_of_machine
    }

    /// The frequency at which the cost of a row with these rounds is given: its own if its work
    /// lowers the core's clock, since it would never run at the usual one.
    pub(super) fn for_row(&self, rounds: &[RoundSamples]) -> Option<f64> {
        let pairs = rounds.iter().filter_map(|round| {
            let own = of_round(round)?;
            Some((own, own / self.by_round.get(&(round.round, round.cpu))?))
        });
        let (own, shares): (Vec<f64>, Vec<f64>) = pairs.unzip();
        let lowers = shares.len() >= MIN_ROUNDS && quantile(&shares, 0.75) < Some(LOWERED);
        if lowers { median(&own) } else { self.usual }
    }
}

/// The median frequency of a process's samples.
fn of_round(round: &RoundSamples) -> Option<f64> {
    median(&frequency::known([round]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(ghz: [f64; 6]) -> Vec<RoundSamples> {
        (0..)
            .zip(ghz)
            .map(|(round, ghz)| RoundSamples {
                round,
                values: vec![1.0; 5],
                sample_ghz: vec![ghz; 5],
                ..RoundSamples::default()
            })
            .collect()
    }

    #[test]
    fn only_work_that_lowers_the_clock_keeps_its_own() {
        let usual = [4.0, 3.7, 4.1, 4.0, 3.8, 4.0];
        let wide = usual.map(|ghz| 0.85 * ghz);
        // A row whose processes happened to meet a slower core more often than not.
        let unlucky = [3.8, 3.7, 3.9, 4.0, 3.6, 3.8];
        let rows = [usual, usual, usual, usual, unlucky, wide].map(rounds);
        let run = Frequencies::of(Some(4.05), None, rows.iter().flatten());
        assert_eq!(run.for_row(&rows[0]), Some(4.05));
        assert_eq!(run.for_row(&rows[4]), Some(4.05));
        let own = run.for_row(&rows[5]).expect("it is known");
        assert!((own - 3.4).abs() < 0.03, "{own}");
        // Nothing is known of a row measured once.
        assert_eq!(run.for_row(&rows[5][..1]), Some(4.05));
    }

    #[test]
    fn the_first_run_of_a_machine_has_its_own() {
        let rows = [[4.0, 4.0, 4.0, 4.0, 3.6, 3.7]].map(rounds);
        let run = Frequencies::of(None, None, rows.iter().flatten());
        assert_eq!((run.usual(), run.is_of_machine()), (Some(4.0), false));
        assert_eq!(Frequencies::of(None, None, [].iter()).usual(), None);
        assert_eq!(Frequencies::of(Some(3.0), None, [].iter()).usual(), None);
    }

    #[test]
    fn a_usual_frequency_far_from_that_of_the_run_is_none() {
        let rows = [[4.0, 4.0, 4.0, 4.0, 3.6, 3.7]].map(rounds);
        let with = |usual, common| {
            let run = Frequencies::of(Some(usual), common, rows.iter().flatten());
            (run.usual().expect("one"), run.is_of_machine())
        };
        for usual in [3.3, 4.1, 4.9] {
            assert_eq!(with(usual, None), (usual, true));
        }
        for usual in [0.0, -1.0, 0.4, 3.1, 5.2, 40.0, 1e300, f64::INFINITY] {
            assert_eq!(with(usual, None), (4.0, false), "{usual}");
        }
        // Both runs of a pair decide alike.
        assert_eq!(with(4.9, Some(3.5)), (3.5, false));
    }
}
