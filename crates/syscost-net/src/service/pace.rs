//! Sends at a given rate.

use std::thread;
use std::time::Duration;

use super::account::monotonic_ns;

/// Maximum sleep before the next check whether the service is over, in ns.
const MAX_SLEEP_NS: u64 = 50_000_000;

/// Maximum delay that is made up for, in ns. More would be a burst at a higher rate than requested.
const MAX_DELAY_NS: u64 = 1_000_000;

/// Computes when each message of a sequence is due.
#[derive(Debug)]
pub(super) struct Pace {
    begun_ns: u64,
    per_second: u32,
    forfeited_ns: u64,
}

impl Pace {
    pub(super) fn new(per_second: u32) -> Self {
        Self {
            begun_ns: monotonic_ns(),
            per_second: per_second.max(1),
            forfeited_ns: 0,
        }
    }

    /// Returns the time in which messages were due but not sent, in ns: delays that were not made up
    /// for, and the current one, if message `next` is the first that was not sent.
    pub(super) fn forfeited_ns(&self, next: u64) -> u64 {
        let late_ns = monotonic_ns().saturating_sub(self.due_ns(next));
        self.forfeited_ns + late_ns
    }

    /// Waits until message `number` is due; returns false if `is_over` becomes true before that.
    pub(super) fn wait_for(&mut self, number: u64, mut is_over: impl FnMut() -> bool) -> bool {
        loop {
            let left = self.left_ns(number, monotonic_ns());
            if left == 0 {
                return true;
            }
            if is_over() {
                return false;
            }
            thread::sleep(Duration::from_nanos(left.min(MAX_SLEEP_NS)));
        }
    }

    /// Returns when message `number` is due, in ns of the monotonic clock.
    fn due_ns(&self, number: u64) -> u64 {
        let after = u128::from(number) * 1_000_000_000 / u128::from(self.per_second);
        self.begun_ns.saturating_add(after as u64)
    }

    /// Returns the time until message `number` is due, in ns; 0 if it is late.
    fn left_ns(&mut self, number: u64, now_ns: u64) -> u64 {
        let due_ns = self.due_ns(number);
        let delay = now_ns.saturating_sub(due_ns);
        if delay > MAX_DELAY_NS {
            self.begun_ns += delay;
            self.forfeited_ns += delay;
        }
        due_ns.saturating_sub(now_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_due_at_their_rate_and_long_delays_are_not_made_up_for() {
        let mut pace = Pace {
            begun_ns: 1_000,
            per_second: 1_000_000,
            forfeited_ns: 0,
        };
        assert_eq!(pace.left_ns(0, 1_000), 0);
        assert_eq!(pace.left_ns(1, 1_000), 1_000);
        assert_eq!(pace.left_ns(500, 401_000), 100_000);
        assert_eq!(pace.left_ns(500, 601_000), 0, "a little late");
        assert_eq!(pace.forfeited_ns, 0);
        let late = 501_000 + MAX_DELAY_NS + 1;
        assert_eq!(pace.left_ns(500, late), 0);
        assert_eq!(pace.left_ns(501, late), 1_000, "the next is due as usual");
        assert_eq!(pace.forfeited_ns, MAX_DELAY_NS + 1);
    }

    #[test]
    fn a_delay_at_the_end_is_forfeited_too() {
        let pace = Pace {
            begun_ns: monotonic_ns() - 1_000_000_000,
            per_second: 1000,
            forfeited_ns: 7,
        };
        assert!(pace.forfeited_ns(400) >= 600_000_007);
        assert_eq!(pace.forfeited_ns(100_000), 7, "it is not due yet");
    }
}
