//! Details that follow from the main value.

use serde::{Deserialize, Serialize};
use syscost_results::stats::order;

use super::Bencher;

/// How a detail follows from the row's value. It is computed from the value in the document, not in
/// each process, so that both come from the same samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Follows {
    /// The value times this factor.
    Times(f64),
    /// This amount per operation as a rate per second; the value is a time in ns.
    PerSecond(f64),
}

impl Follows {
    /// The detail of a row with this value.
    pub(crate) fn of(self, value: f64) -> f64 {
        match self {
            Self::Times(factor) => factor * value,
            Self::PerSecond(amount) => amount * 1e9 / value,
        }
    }
}

impl Bencher<'_> {
    /// Adds a detail that is this many times the row's value; for the name see [`Bencher::detail`].
    pub fn detail_times(&mut self, name: &str, factor: f64) {
        let follows = Follows::Times(factor);
        self.findings.follows.insert(name.to_owned(), follows);
    }

    /// Adds a detail per second: `amount` is processed in the time of the row's value, which is in ns.
    pub fn detail_per_second(&mut self, name: &str, amount: f64) {
        let follows = Follows::PerSecond(amount);
        self.findings.follows.insert(name.to_owned(), follows);
    }

    /// The median of the undisturbed samples so far, or of all if there are none, in the
    /// benchmark's unit; `None` before the measurement and in the evidence pass.
    pub fn median(&self) -> Option<f64> {
        let values = || (0_u32..).zip(self.findings.values.iter().copied());
        let undisturbed = values().filter(|(sample, _)| !self.is_disturbed(*sample));
        let undisturbed: Vec<f64> = undisturbed.map(|(_, value)| value).collect();
        order::median(&undisturbed).or_else(|| order::median(&self.findings.values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_round_trip_and_a_rate_follow_from_the_value() {
        assert_eq!(Follows::Times(0.5).of(5000.0), 2500.0);
        assert_eq!(Follows::PerSecond(4096.0).of(1000.0), 4.096e9);
    }
}
