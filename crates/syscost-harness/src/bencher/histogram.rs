//! The histogram of individually timed operations, in tenths of a nanosecond.

use hdrhistogram::Histogram;

/// A histogram of tenths of a nanosecond up to a hundred seconds, with two significant digits.
pub(super) fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 1_000_000_000_000, 2).expect("constant bounds are valid")
}

/// The bins that are not empty: upper bound in ns, and count.
pub(super) fn buckets(singles: &Histogram<u64>) -> Vec<(f64, u64)> {
    singles
        .iter_recorded()
        .map(|bin| (bin.value_iterated_to() as f64 / 10.0, bin.count_at_value()))
        .collect()
}
