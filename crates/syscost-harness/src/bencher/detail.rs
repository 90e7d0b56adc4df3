//! Numbers beside the main one.

use serde::{Deserialize, Serialize};
use syscost_stats::order;

use super::Bencher;
use crate::failure::Failure;
use crate::proof::Witness;

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

impl Bencher<'_> {
    /// Adds a named number beside the main one; the name ends in its unit, e.g. `switch_ns`. The
    /// document has the median over processes. A value that is not finite, e.g. a share of nothing,
    /// cannot be represented in JSON and is left out.
    pub fn detail(&mut self, name: &str, value: f64) {
        self.detail_over(Over::Median, name, value);
    }

    /// As [`Bencher::detail`], combined over processes otherwise than by the median, e.g. the longest
    /// of all gaps.
    pub fn detail_over(&mut self, over: Over, name: &str, value: f64) {
        if value.is_finite() {
            let detail = Detail { value, over };
            self.findings.details.insert(name.to_owned(), detail);
        }
    }

    /// Adds a detail that is this many times the row's value; for the name see [`Bencher::detail`].
    pub fn detail_times(&mut self, name: &str, factor: f64) {
        self.detail_over(Over::Times, name, factor);
    }

    /// Adds a detail: the time of each of the things that this witness counted in an operation. The
    /// divisor is what it saw, and cannot be another one.
    ///
    /// # Errors
    /// It has not been seen.
    pub fn detail_each(&mut self, name: &str, counted: &'static Witness) -> Result<(), Failure> {
        let unseen = || {
            let what = format!("divides by `{}` before it is seen", counted.sentence());
            Failure::Broken(what)
        };
        let mut seen = self.seen.iter().rev();
        let (_, number) = seen
            .find(|(witness, _)| std::ptr::eq(*witness, counted))
            .ok_or_else(unseen)?;
        self.detail_times(name, 1.0 / number.unwrap_or(f64::NAN));
        Ok(())
    }

    /// Adds a detail per second: `amount` is processed in the time of the row's value, which is in ns.
    pub fn detail_per_second(&mut self, name: &str, amount: f64) {
        self.detail_over(Over::PerSecond, name, amount);
    }

    /// Whether a sample is tagged, for whatever cause, or its core was shared.
    pub(super) fn is_disturbed(&self, sample: u32) -> bool {
        let mut tags = self.findings.samples.disturbed.iter();
        let is_shared = self.shared.get(sample as usize).copied();
        is_shared == Some(true) || tags.any(|tag| tag.sample == sample)
    }

    /// The median of the undisturbed samples so far, or of all if there are none, in the
    /// benchmark's unit; `None` before the measurement and in the evidence pass.
    pub fn median(&self) -> Option<f64> {
        let all = &self.findings.samples.values;
        let values = || (0_u32..).zip(all.iter().copied());
        let undisturbed = values().filter(|(sample, _)| !self.is_disturbed(*sample));
        let undisturbed: Vec<f64> = undisturbed.map(|(_, value)| value).collect();
        order::median(&undisturbed).or_else(|| order::median(all))
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
