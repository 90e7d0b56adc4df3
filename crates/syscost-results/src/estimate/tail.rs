//! Individually timed operations: their tail quantiles, their median, and the two states they may
//! have.

use std::collections::BTreeMap;

use syscost_stats::{order, states};

use super::{Rules, suffix};

/// A tail quantile, reported only for enough operations: with fewer, not even the largest one
/// bounds it with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tail {
    /// Its name without the unit, as in details: `p99_9`.
    pub name: &'static str,
    /// One operation in this many is slower.
    pub one_in: u64,
    /// Minimum number of operations.
    pub min_operations: u64,
}

impl Tail {
    /// The 99th percentile.
    pub const P99: Tail = Tail {
        name: "p99",
        one_in: 100,
        min_operations: 299,
    };

    /// Quantiles further out, reported as details.
    pub const FURTHER: [Tail; 2] = [
        Tail {
            name: "p99_9",
            one_in: 1_000,
            min_operations: 2_995,
        },
        Tail {
            name: "p99_99",
            one_in: 10_000,
            min_operations: 29_956,
        },
    ];

    /// The upper bound of the histogram bin that contains the quantile; `None` with too few
    /// operations.
    pub fn of(self, histogram: &[(f64, u64)]) -> Option<f64> {
        let total: u64 = histogram.iter().map(|(_, count)| count).sum();
        if total < self.min_operations {
            return None;
        }
        let wanted = total - total / self.one_in;
        order::of_rank(histogram, wanted - 1)
    }
}

/// The details with the median operation in each of two states, without the unit, and with the
/// share of the operations in the slower one. The names of
/// [`Estimated::details`](super::Estimated).
pub const FAST_STATE: &str = "fast_state";
/// See [`FAST_STATE`].
pub const SLOW_STATE: &str = "slow_state";
/// See [`FAST_STATE`].
pub const SLOW_STATE_PERCENT: &str = "slow_state_percent";

/// Adds the quantiles beyond the 99th percentile, as far out as the number of operations allows,
/// the longest operation with the number of operations, their median, and their states if they have
/// two.
pub(super) fn add_details(details: &mut BTreeMap<String, f64>, rules: &Rules<'_>) {
    let unit = suffix(rules.unit);
    for tail in Tail::FURTHER {
        let bound = tail.of(rules.histogram);
        details.extend(bound.map(|bound| (format!("{}_{unit}", tail.name), bound)));
    }
    let longest = rules.histogram.iter().rev().find(|(_, count)| *count > 0);
    if let Some((bound, _)) = longest {
        let count: u64 = rules.histogram.iter().map(|(_, count)| count).sum();
        details.insert(format!("longest_{unit}"), *bound);
        details.insert("singles_count".to_owned(), count as f64);
    }
    let median = order::nearest_rank_of_bins(rules.histogram, 0.5);
    details.extend(median.map(|median| (format!("median_single_{unit}"), median)));
    if let Some(states) = states::two_states(rules.histogram) {
        details.insert(format!("{FAST_STATE}_{unit}"), states.low);
        details.insert(format!("{SLOW_STATE}_{unit}"), states.high);
        details.insert(SLOW_STATE_PERCENT.to_owned(), 100.0 * states.high_share);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unit;

    #[test]
    fn as_few_operations_are_enough_for_their_largest_to_bound_the_quantile() {
        for tail in [Tail::P99, Tail::FURTHER[0], Tail::FURTHER[1]] {
            let all_below = |count: u64| (1.0 - 1.0 / tail.one_in as f64).powf(count as f64);
            assert!(all_below(tail.min_operations) <= 0.05, "{tail:?}");
            assert!(all_below(tail.min_operations - 1) > 0.05, "{tail:?}");
        }
    }

    #[test]
    fn the_99th_percentile_needs_299_operations() {
        let with = |histogram: &[(f64, u64)]| Tail::P99.of(histogram);
        assert_eq!(with(&[(10.0, 298)]), None);
        assert_eq!(with(&[(10.0, 295), (30.0, 2), (90.0, 2)]), Some(30.0));
        assert_eq!(with(&[(10.0, 990), (20.0, 9), (70.0, 1)]), Some(10.0));
        assert_eq!(with(&[(10.0, 989), (20.0, 10), (70.0, 1)]), Some(20.0));
    }

    #[test]
    fn a_tail_is_reported_as_far_out_as_its_operations_allow() {
        let with = |histogram: &[(f64, u64)]| {
            let mut details = BTreeMap::new();
            let rules = Rules {
                histogram,
                ..Rules::new(Unit::Nanoseconds)
            };
            add_details(&mut details, &rules);
            let texts = details
                .iter()
                .map(|(name, value)| format!("{name} {value}"));
            texts.collect::<Vec<_>>().join(", ")
        };
        assert_eq!(with(&[]), "");
        assert_eq!(
            with(&[(10.0, 2_993), (30.0, 1), (90.0, 0)]),
            "longest_ns 30, median_single_ns 10, singles_count 2994"
        );
        assert_eq!(
            with(&[(10.0, 2_993), (30.0, 1), (90.0, 1)]),
            "longest_ns 90, median_single_ns 10, p99_9_ns 10, singles_count 2995"
        );
        assert_eq!(
            with(&[(10.0, 29_926), (20.0, 27), (30.0, 2), (90.0, 1)]),
            "longest_ns 90, median_single_ns 10, p99_99_ns 30, p99_9_ns 20, singles_count 29956"
        );
        assert_eq!(
            with(&[(45e3, 120), (60e3, 10), (85e3, 110)]),
            "fast_state_ns 45000, longest_ns 85000, median_single_ns 45000, singles_count 240, \
             slow_state_ns 85000, slow_state_percent 50"
        );
    }
}
