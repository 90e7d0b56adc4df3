//! Exact confidence intervals of quantiles from order statistics, assuming only independence, not a
//! distribution.
//!
//! The number of values below the true quantile `q` is binomial, so the chance that the quantile
//! lies between two order statistics is known exactly whatever the distribution (Thompson 1936;
//! David and Nagaraja, "Order Statistics", section 7.1). The price is that only certain coverages
//! exist: 96.9 % for six values, 97.9 % for ten.

use super::order::{self, sorted};
use super::student;

/// The nominal coverage.
pub const CONFIDENCE: f64 = 0.95;

/// A confidence interval between two order statistics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The exact chance that such an interval contains the true quantile, at least [`CONFIDENCE`].
    pub coverage: f64,
}

/// The order statistics that bound an interval, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranks {
    /// Rank of the lower end.
    pub low: usize,
    /// Rank of the upper end.
    pub high: usize,
    /// The exact coverage.
    pub coverage: f64,
}

/// The 95 % interval of the median over independent values; `None` below six.
///
/// The ranks are the innermost symmetric pair with sufficient coverage: six values give the 1st and
/// 6th (96.875 %), ten the 2nd and 9th (97.85 %).
pub fn of_median(values: &[f64]) -> Option<Interval> {
    of_quantile(values, 0.5)
}

/// Minimum number of values for an interval of any kind.
pub const MIN_VALUES: usize = 3;

/// The 95 % interval of the level of three to five independent values, for which there is no exact
/// one: Student's (1908) of their mean, of the logarithms if all are positive, extended to the
/// smallest and the largest value, between which the median of any distribution lies in 75, 87.5
/// and 94 % of all cases. It assumes normally distributed values; `None` for fewer and for more.
pub fn of_few(values: &[f64]) -> Option<Interval> {
    let middle = order::median(values)?;
    if values.len() < MIN_VALUES || ranks(values.len(), 0.5).is_some() {
        return None;
    }
    // Relative to the median, in sorted order, so that neither unit nor order matters.
    let are_positive = values.iter().all(|value| *value > 0.0);
    let sorted = sorted(values);
    let scaled = sorted.iter();
    let scaled: Vec<f64> = match are_positive {
        true => scaled.map(|value| (value / middle).ln()).collect(),
        false => scaled.copied().collect(),
    };
    let (low, high) = student::interval(&scaled, CONFIDENCE)?;
    let (low, high) = match are_positive {
        true => (middle * low.exp(), middle * high.exp()),
        false => (low, high),
    };
    Some(Interval {
        low: low.min(sorted[0]),
        high: high.max(sorted[sorted.len() - 1]),
        coverage: CONFIDENCE,
    })
}

/// The 95 % interval of the quantile `q` (strictly between 0 and 1) over independent values; `None`
/// if there are too few values for both ends.
pub fn of_quantile(values: &[f64], q: f64) -> Option<Interval> {
    let ranks = ranks(values.len(), q)?;
    let sorted = sorted(values);
    Some(Interval {
        low: sorted[ranks.low - 1],
        high: sorted[ranks.high - 1],
        coverage: ranks.coverage,
    })
}

/// The ranks of the 95 % interval of the quantile `q` among `n` values: the innermost pair with at
/// most 2.5 % outside each end; `None` if `n` is too small for either end.
pub fn ranks(n: usize, q: f64) -> Option<Ranks> {
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let below = binomial_cdf(n, q);
    // The quantile is below the value of rank r if fewer than r values are below the quantile.
    let low = (1..=n).rev().find(|&rank| below[rank - 1] <= tail)?;
    let high = (low + 1..=n).find(|&rank| 1.0 - below[rank - 1] <= tail)?;
    Some(Ranks {
        low,
        high,
        coverage: below[high - 1] - below[low - 1],
    })
}

/// The cumulative probabilities of 0..=n successes of a binomial distribution with success chance
/// `p`, strictly within 0..1.
fn binomial_cdf(n: usize, p: f64) -> Vec<f64> {
    let odds = (p / (1.0 - p)).ln();
    // In logarithms, since (1 - p)^n underflows for a few hundred values.
    let mut log_chance = n as f64 * (1.0 - p).ln();
    let mut sum = 0.0;
    (0..=n)
        .map(|successes| {
            sum += log_chance.exp();
            log_chance += ((n - successes) as f64 / (successes + 1) as f64).ln() + odds;
            sum
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stats::order::median;

    #[test]
    fn ranks_of_the_median_are_the_tabulated_ones() {
        // Exact: 1 - 2 * sum of binomial(n, i) over i < low, divided by 2^n.
        let table: [(usize, usize, usize, f64); 9] = [
            (6, 1, 6, 62.0 / 64.0),
            (7, 1, 7, 126.0 / 128.0),
            (9, 2, 8, 492.0 / 512.0),
            (10, 2, 9, 1002.0 / 1024.0),
            (12, 3, 10, 3938.0 / 4096.0),
            (17, 5, 13, 1.0 - 2.0 * 3214.0 / 131_072.0),
            (20, 6, 15, 1.0 - 2.0 * 21_700.0 / 1_048_576.0),
            (25, 8, 18, 0.956_714),
            (30, 10, 21, 0.957_226),
        ];
        for (n, low, high, coverage) in table {
            let ranks = ranks(n, 0.5).unwrap();
            assert_eq!((ranks.low, ranks.high), (low, high), "n = {n}");
            assert!(
                (ranks.coverage - coverage).abs() < 1e-6,
                "n = {n}: {}",
                ranks.coverage
            );
        }
    }

    #[test]
    fn five_values_have_no_interval() {
        assert_eq!(of_median(&[1.0, 2.0, 3.0, 4.0, 5.0]), None);
        assert_eq!(of_median(&[]), None);
    }

    #[test]
    fn tails_need_as_many_values_as_theory_says() {
        // Both ends of the 90th percentile: 0.9^n must be under 2.5 %.
        assert_eq!(ranks(35, 0.9), None);
        assert_eq!(ranks(36, 0.9).unwrap().high, 36);
    }

    #[test]
    fn ranks_of_the_upper_quartile_are_the_innermost() {
        let ranks = ranks(40, 0.75).unwrap();
        let below = binomial_cdf(40, 0.75);
        assert!(below[ranks.low - 1] <= 0.025 && below[ranks.low] > 0.025);
        assert!(1.0 - below[ranks.high - 1] <= 0.025 && 1.0 - below[ranks.high - 2] > 0.025);
        assert!((below[40] - 1.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_median_and_covers_enough(values in prop::collection::vec(-1e9..1e9f64, 6..80)) {
            let interval = of_median(&values).unwrap();
            let median = median(&values).unwrap();
            prop_assert!(interval.low <= median && median <= interval.high);
            prop_assert!(interval.coverage >= CONFIDENCE && interval.coverage < 1.0);
        }
    }

    #[test]
    fn three_to_five_values_have_students_interval() {
        // Mean 2, deviation 1, error 1 / sqrt 3, t 4.303.
        let found = of_few(&[-1.0, 0.0, 1.0]).expect("three");
        assert!(
            (found.high - 4.303 / 3_f64.sqrt()).abs() < 1e-3,
            "{found:?}"
        );
        assert_eq!(found.low, -found.high);
        let found = of_few(&[1.0, 2.0, 9.0, 3.0]).expect("four");
        assert!(
            found.low > 0.0 && found.high > 9.0,
            "of logarithms: {found:?}"
        );
        let same = of_few(&[2.0; 5]).expect("five");
        assert!((same.low - 2.0).abs() < 1e-12 && (same.high - 2.0).abs() < 1e-12);
        assert_eq!(of_few(&[1.0, 2.0]), None);
        assert_eq!(of_few(&[1.0; 6]), None, "six have an exact one");
    }
}
