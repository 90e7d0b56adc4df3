//! The median with an interval by bootstrap, which also few values have.

use syscost_results::stats::order::{median, quantile_of_sorted, sorted};

/// A median with its interval of 95 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bootstrapped {
    /// The median of the values themselves.
    pub(super) median: f64,
    /// Lower end.
    pub(super) low: f64,
    /// Upper end.
    pub(super) high: f64,
}

impl Bootstrapped {
    /// The percentile interval of the median over this many resamples; `None` below two values. (A
    /// corrected interval cannot be had, as its acceleration cannot be estimated for a median.)
    pub(super) fn of(values: &[f64], resamples: usize) -> Option<Self> {
        if values.len() < 2 {
            return None;
        }
        let mut random = fastrand::Rng::with_seed(0);
        let drawn = (0..resamples).filter_map(|_| {
            let draw = |_| values[random.usize(..values.len())];
            median(&(0..values.len()).map(draw).collect::<Vec<f64>>())
        });
        let drawn = sorted(&drawn.collect::<Vec<f64>>());
        Some(Self {
            median: median(values)?,
            low: quantile_of_sorted(&drawn, 0.025)?,
            high: quantile_of_sorted(&drawn, 0.975)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_covers_the_median_of_skewed_values() {
        let mut random = fastrand::Rng::with_seed(8);
        let covered = (0..400).filter(|_| {
            let mut value = || -(1.0 - random.f64()).ln();
            let values: Vec<f64> = (0..30).map(|_| value()).collect();
            let found = Bootstrapped::of(&values, 400).expect("several values");
            (found.low..=found.high).contains(&std::f64::consts::LN_2)
        });
        let percent = covered.count() as f64 / 4.0;
        assert!((90.0..=98.0).contains(&percent), "{percent}");
    }

    #[test]
    fn one_value_has_no_interval() {
        assert_eq!(Bootstrapped::of(&[1.0], 100), None);
        let same = Bootstrapped::of(&[2.0, 2.0], 100).expect("two values");
        assert_eq!((same.median, same.low, same.high), (2.0, 2.0, 2.0));
    }
}
