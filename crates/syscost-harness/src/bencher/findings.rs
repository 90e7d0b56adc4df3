//! What one pass found out about one case.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use syscost_results::measurement::Cause;
use syscost_results::{Bound, Claim, Evidence, RoundSamples};
use syscost_stats::order::{self, median};

/// What one pass found out about one case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// Its samples, as the document has them: the worker knows no round, steal or usual frequency.
    #[serde(flatten)]
    pub samples: RoundSamples,
    /// Whether the benchmark observed the values itself, in its own unit.
    pub observed: bool,
    /// How many bytes an operation moves, if the values are rates in B/s and not times.
    pub bytes: Option<f64>,
    /// How many copies of the operation ran simultaneously, if their throughput was measured: the
    /// values are then operations of all of them per second, or bytes per second where an operation
    /// moves bytes.
    pub copies: Option<u32>,
    /// The bound up to which values cannot be distinguished from zero, in the benchmark's unit, if
    /// there is one.
    pub resolution: Option<f64>,
    /// The bounds of the value as far as the method can resolve it, if that is coarser than the
    /// differences from round to round.
    pub limits: Option<(f64, f64)>,
    /// Why nothing larger than the values was tried, although the quantity is larger.
    pub larger: Option<String>,
    /// By how much the clock's grain may distort a value, in the benchmark's unit: half a step for
    /// each batch that it is computed from.
    pub grain: f64,
    /// The share of the time of the samples that count which a disturbance takes or explains.
    #[serde(default)]
    pub explained: BTreeMap<Cause, f64>,
    /// How long the pass waited for an undisturbed core, in ns.
    pub waited_ns: f64,
    /// How long all of this pass took, set-up and waiting included, in ns.
    pub took_ns: f64,
    /// How long an operation took where it is counted, in ns.
    #[serde(default)]
    pub counted_ns: Option<f64>,
    /// Claims and counts.
    pub evidence: Vec<Evidence>,
    /// Minimum cost in core cycles: a claim about the row's figure, judged with it.
    pub cycle_floor: Option<f64>,
    /// Named numbers beside the main one.
    pub details: BTreeMap<String, Detail>,
    /// Individually timed operations, as `[upper bound in ns, count]`.
    pub histogram: Vec<(f64, u64)>,
}

/// How much longer an operation may take where it is timed than where it is counted: a neighbour on the core
/// at most doubles either.
const AS_COUNTED: Bound = Bound::Within(0.5, 2.0);
const OTHERWISE: &str =
    "what is timed takes another time than what is counted: it may be another operation";

impl Findings {
    /// Judges how long an operation took in these rounds of a timed pass, against how long it took where it
    /// was counted, which these findings are of. `None` where that is not known, or either is not a time of
    /// an operation.
    pub fn judge_time(&self, timed: &Findings, rounds: &[RoundSamples]) -> Option<Evidence> {
        let counted_ns = self.counted_ns?;
        let own = rounds.iter().filter(|round| round.is_undisturbed());
        let medians = own.filter_map(|round| median(&round.values));
        let value = median(&medians.collect::<Vec<_>>())?;
        let timed_ns = timed.bytes.map_or(value, |bytes| bytes * 1e9 / value);
        let is_difference = rounds.iter().any(|round| !round.raw.is_empty());
        let is_of_an_operation = !timed.observed && timed.copies.is_none() && !is_difference;
        let claim =
            Claim::by_most("time of an operation where it is timed over where it is counted");
        let evidence = Evidence::judged(claim, AS_COUNTED, timed_ns / counted_ns, "clock");
        is_of_an_operation.then(|| evidence.tolerated(|| Some(OTHERWISE)))
    }
}

/// How what the processes of a row found of a detail becomes the number in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// The median over processes.
    Median,
    /// The mean over processes: of shares of what only a few of them have.
    Mean,
    /// The sum over processes.
    Sum,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// The row's value times this factor: computed from the value in the document, not in each
    /// process, so that both come from the same samples.
    Times,
    /// This amount per operation as a rate per second; the row's value is a time in ns.
    PerSecond,
}

/// What a process found of a detail.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    /// The number, in the unit that the detail's name ends in.
    pub value: f64,
    /// What becomes of it.
    pub over: Over,
}

impl Over {
    /// The number for these values, one of each process in order, in a row with this value. `None`
    /// without values, and where it is no number.
    pub(crate) fn of(self, values: &[f64], row: Option<f64>) -> Option<f64> {
        let last = || values.last().copied();
        let number = match self {
            Over::Median => order::median(values),
            Over::Mean => Some(values.iter().sum::<f64>() / values.len() as f64),
            Over::Sum => Some(values.iter().sum()),
            Over::Max => values.iter().copied().reduce(f64::max),
            Over::Min => values.iter().copied().reduce(f64::min),
            Over::Times => last().zip(row).map(|(factor, value)| factor * value),
            Over::PerSecond => last().zip(row).map(|(amount, ns)| amount * 1e9 / ns),
        };
        number.filter(|number| number.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_round_trip_and_a_rate_follow_from_the_value() {
        assert_eq!(Over::Times.of(&[0.5], Some(5000.0)), Some(2500.0));
        assert_eq!(Over::PerSecond.of(&[4096.0], Some(1000.0)), Some(4.096e9));
        assert_eq!(Over::Times.of(&[0.5], None), None);
        assert_eq!(Over::PerSecond.of(&[4096.0], Some(0.0)), None);
    }

    #[test]
    fn a_detail_says_how_processes_are_combined() {
        let of = |over: Over| over.of(&[4.0, 1.0, 2.0, 9.0], None);
        assert_eq!(
            [Over::Median, Over::Mean, Over::Sum, Over::Max, Over::Min].map(of),
            [3.0, 4.0, 16.0, 9.0, 1.0].map(Some)
        );
    }
}
