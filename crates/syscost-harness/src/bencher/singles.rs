//! The histogram of operations that are timed one at a time.

use hdrhistogram::Histogram;

use super::{Bencher, Over};

pub(super) struct Singles {
    /// In tenths of a nanosecond.
    times: Histogram<u64>,
    /// How many were negative after the overhead was subtracted.
    below_zero: u64,
}

impl Singles {
    /// None yet. Times go up to a hundred seconds, with two significant digits.
    pub(super) fn new() -> Self {
        let times = Histogram::new_with_bounds(1, 1_000_000_000_000, 2);
        Self {
            times: times.expect("constant bounds are valid"),
            below_zero: 0,
        }
    }
}

impl Bencher<'_> {
    /// How many individually timed operations the row's histogram has, including those below zero.
    pub fn singles(&self) -> u64 {
        self.singles.times.len() + self.singles.below_zero
    }

    /// Adds one individually timed operation, in ns, to the row's histogram. A time that is
    /// negative after the overhead was subtracted has no place in a histogram: it is counted in the
    /// detail `singles_below_zero_count` instead.
    pub fn record_single(&mut self, ns: f64) {
        if ns >= 0.0 {
            self.singles.times.saturating_record((ns * 10.0) as u64);
        } else {
            self.singles.below_zero += 1;
        }
    }

    /// Adds the bins that are not empty to what was found: upper bound in ns, and count.
    pub(super) fn finish_singles(&mut self) {
        let Singles { times, below_zero } = &self.singles;
        let bins = times.iter_recorded();
        let bins = bins.map(|bin| (bin.value_iterated_to() as f64 / 10.0, bin.count_at_value()));
        self.findings.histogram = bins.collect();
        if *below_zero > 0 {
            self.detail_over(Over::Sum, "singles_below_zero_count", *below_zero as f64);
        }
    }
}
