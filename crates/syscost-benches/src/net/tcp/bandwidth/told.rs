//! Whether the rates of all windows are those of the bytes that came.

use std::time::{Duration, Instant};

use syscost_harness::prelude::*;

use super::streams::Outcome;

/// A receiver's clock may be a hundredth slower than this one's, by which windows then seem to hold more.
const MOST: f64 = 1.02;

/// A mean of all windows that is below this share of the mean over the whole time is grossly wrong; less may be a busy machine.
const LEAST: f64 = 0.1;

/// What the windows told: their rates, and how long each was.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Told {
    /// Bytes that came in all windows, by their rates and the time that each lasted at least.
    at_least: f64,
    /// The same by the time that each took with all that is around it.
    at_most: f64,
    took_s: f64,
}

impl Told {
    /// Takes in what a window tells that lasts at least so long.
    pub(super) fn take(
        &mut self,
        length: Duration,
        window: impl FnOnce() -> Result<f64, Failure>,
    ) -> Result<f64, Failure> {
        let begun = Instant::now();
        let rate = window()?;
        let took_s = begun.elapsed().as_secs_f64();
        self.at_least += rate * length.as_secs_f64();
        self.at_most += rate * took_s;
        self.took_s += took_s;
        Ok(rate)
    }

    /// Claims that the rates are bytes in a second: no more came in all windows than in the time from before the first to behind the last, and not much less in a
    /// second. The first holds however a machine stalls.
    pub(super) fn claim(&self, b: &mut Bencher, outcome: &Outcome) {
        let Some(usage) = outcome.usage else {
            return;
        };
        let bytes = usage.bytes as f64;
        let claim = "bytes by the rates of all windows, of those that came meanwhile";
        let share = self.at_least / bytes.max(1.0);
        b.claim_within(claim, Bound::AtMost(MOST), share, "receiver");
        let mean = bytes * 1e9 / usage.passed_ns.max(1) as f64;
        let share = self.at_most / self.took_s / mean.max(1.0);
        let claim = "mean rate of all windows, of the mean rate of the whole time";
        b.claim_within(claim, Bound::AtLeast(LEAST), share, "receiver and clock");
        let claim = "bytes at the last reading, of those that the receiver accounts for";
        let share = usage.last_bytes as f64 / outcome.received.bytes.max(1) as f64;
        b.claim_within(claim, Bound::AtMost(1.0), share, "receiver");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_windows_tell_is_between_two_bounds() {
        let mut told = Told::default();
        for _ in 0..2 {
            let length = Duration::from_millis(2);
            let rate = told.take(length, || {
                std::thread::sleep(length);
                Ok(1e6)
            });
            assert_eq!(rate, Ok(1e6));
        }
        assert!((told.at_least - 4e3).abs() < 1e-6, "{told:?}");
        assert!(told.at_most >= told.at_least, "{told:?}");
    }
}
