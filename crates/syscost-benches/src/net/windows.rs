//! Shared: rates over windows of time, by what a receiver has at the beginning and the end of each.

use std::time::{Duration, Instant};

use syscost_harness::prelude::*;
use syscost_net::service::Reading;
use syscost_results::Verdict;

/// Minimum ratio of two clocks' rates: clocks under correction (NTP) run slower by a two-thousandth at most.
const CLOCKS_AGREE: f64 = 0.99;

/// Maximum share of the received bytes that all windows together seem to hold, if the receiver's clock is
/// slower than this one's.
const MAX_SHARE: f64 = 1.02;

/// If the mean of all windows is below this share of the mean over the whole time, it is another rate, or
/// the machine stood still in the windows.
const MIN_MEAN: f64 = 0.1;

/// The bytes that a receiver has at some time, by the clock of its machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Received {
    pub(super) messages: u64,
    pub(super) bytes: u64,
    pub(super) at_ns: u64,
}

impl From<Reading> for Received {
    fn from(reading: Reading) -> Self {
        Self {
            messages: reading.messages,
            bytes: reading.bytes,
            at_ns: reading.at_ns,
        }
    }
}

impl Received {
    /// The bytes that came since `before`, and the time that took. A far end may report anything,
    /// so both are checked.
    pub(super) fn since(&self, before: &Received) -> Result<Received, Failure> {
        let bytes = self.bytes.checked_sub(before.bytes);
        let at_ns = self.at_ns.checked_sub(before.at_ns);
        match bytes.zip(at_ns) {
            Some((bytes, at_ns)) => Ok(Received {
                messages: self.messages.saturating_sub(before.messages),
                bytes,
                at_ns,
            }),
            None => Err(Failure::Refuted(format!(
                "the receiver had {} bytes at {} ns, and then {} at {} ns",
                before.bytes, before.at_ns, self.bytes, self.at_ns
            ))),
        }
    }

    /// Bytes per second. At least `passed` has elapsed here: a clock that shows less is
    /// wrong.
    pub(super) fn rate(&self, passed: Duration) -> Result<f64, Failure> {
        let (ns, here_ns) = (self.at_ns as f64, passed.as_nanos() as f64);
        if ns < CLOCKS_AGREE * here_ns {
            return Err(Failure::Refuted(format!(
                "the receiver's clock advanced by {ns} ns while {here_ns} ns passed here"
            )));
        }
        Ok(self.bytes as f64 * 1e9 / ns.max(1.0))
    }
}

/// What the receiver has, and what the tasks of both ends have used, at some time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Used {
    /// Messages of the senders that are on this machine.
    pub(super) sent: u64,
    pub(super) received: Received,
    pub(super) near_cpu_ns: Option<u64>,
    pub(super) far_cpu_ns: Option<u64>,
    pub(super) at: Instant,
}

impl Used {
    /// What was received and used from this reading until `last`.
    pub(super) fn until(&self, last: &Used) -> Result<Usage, Failure> {
        let came = last.received.since(&self.received)?;
        let used = |first: Option<u64>, last: Option<u64>| Some(last?.saturating_sub(first?));
        Ok(Usage {
            sent: last.sent - self.sent,
            received: came.messages,
            bytes: came.bytes,
            last_bytes: last.received.bytes,
            near_cpu_ns: used(self.near_cpu_ns, last.near_cpu_ns),
            far_cpu_ns: used(self.far_cpu_ns, last.far_cpu_ns),
            passed_ns: (last.at - self.at).as_nanos() as u64,
        })
    }
}

/// What was received and used between the first window and the last.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usage {
    /// Messages of the senders that are on this machine, and of all receivers.
    pub(super) sent: u64,
    pub(super) received: u64,
    pub(super) bytes: u64,
    /// Bytes that the receiver had in the end, including those before the first window.
    pub(super) last_bytes: u64,
    pub(super) near_cpu_ns: Option<u64>,
    pub(super) far_cpu_ns: Option<u64>,
    pub(super) passed_ns: u64,
}

impl Usage {
    /// Details the CPU time of both ends for each of these bytes.
    pub(super) fn detail(&self, b: &mut Bencher, bytes: f64) {
        for (name, ns) in [
            ("cpu_ns_per_byte", self.near_cpu_ns),
            ("far_cpu_ns_per_byte", self.far_cpu_ns),
        ] {
            if let Some(ns) = ns {
                b.detail(name, ns as f64 / bytes.max(1.0));
            }
        }
    }
}

/// The sum of all windows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Windows {
    /// Bytes received in the windows, by their rates and the minimum duration of each.
    min_bytes: f64,
    /// Bytes received in the windows, by their rates and the time that each took with its overhead.
    max_bytes: f64,
    took_s: f64,
}

impl Windows {
    /// Adds a window of at least this length, whose rate it returns.
    pub(super) fn add(
        &mut self,
        length: Duration,
        window: impl FnOnce() -> Result<f64, Failure>,
    ) -> Result<f64, Failure> {
        let begun = Instant::now();
        let rate = window()?;
        let took_s = begun.elapsed().as_secs_f64();
        self.min_bytes += rate * length.as_secs_f64();
        self.max_bytes += rate * took_s;
        self.took_s += took_s;
        Ok(rate)
    }

    /// Claims that the rates are bytes per second: all windows hold no more than was received meanwhile,
    /// which is so however a machine stalls, and their mean is not far below that of the time.
    /// `final_bytes` is what the receiver accounts for in the end.
    pub(super) fn claim(&self, b: &mut Bencher, usage: &Usage, final_bytes: u64) {
        let bytes = usage.bytes as f64;
        let claim = "bytes by the rates of all windows, of those that came meanwhile";
        let share = self.min_bytes / bytes.max(1.0);
        b.claim_within(claim, Bound::AtMost(MAX_SHARE), share, "receiver");
        let mean = bytes * 1e9 / usage.passed_ns.max(1) as f64;
        let share = self.max_bytes / self.took_s / mean.max(1.0);
        let claim = "mean rate of all windows, of the mean rate of the whole time";
        let (verdict, reason) = match share >= MIN_MEAN {
            true => (Verdict::Confirmed, None),
            false => (
                Verdict::Unverified,
                Some("or this machine stood still in them"),
            ),
        };
        let expected = Bound::AtLeast(MIN_MEAN).fact();
        b.claim_verdict(
            claim,
            expected,
            share,
            "receiver and clock",
            verdict,
            reason,
        );
        let claim = "bytes at the last reading, of those that the receiver accounts for";
        let share = usage.last_bytes as f64 / final_bytes.max(1) as f64;
        b.claim_within(claim, Bound::AtMost(1.0), share, "receiver");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_far_end_that_counts_backwards_or_whose_clock_is_slow_is_refuted() {
        let at = |bytes, at_ns| Received {
            messages: 0,
            bytes,
            at_ns,
        };
        let (before, second) = (at(1_000, 500), Duration::from_secs(1));
        let came = at(5_000, 2_000_000_500).since(&before).unwrap();
        assert_eq!(came.rate(second), Ok(2_000.0));
        let is_refuted = |came: Result<f64, Failure>| matches!(came, Err(Failure::Refuted(_)));
        assert!(is_refuted(came.rate(3 * second)), "a slow clock");
        for wrong in [at(999, 2_000_000_500), at(5_000, 499)] {
            let came = wrong.since(&before);
            assert!(is_refuted(came.and_then(|came| came.rate(second))));
        }
    }

    #[test]
    fn the_bytes_of_all_windows_are_between_two_bounds() {
        let mut windows = Windows::default();
        for _ in 0..2 {
            let length = Duration::from_millis(2);
            let rate = windows.add(length, || {
                std::thread::sleep(length);
                Ok(1e6)
            });
            assert_eq!(rate, Ok(1e6));
        }
        assert!((windows.min_bytes - 4e3).abs() < 1e-6, "{windows:?}");
        assert!(windows.max_bytes >= windows.min_bytes, "{windows:?}");
    }
}
