//! Samples as a series: autocorrelation, and drift inside a process.

use super::{order::median, rank::mann_whitney};

/// Minimum number of samples for distinguishing drift from noise: with fewer than four in a third,
/// even two disjoint thirds have a p-value above 5 %.
pub const MIN_FOR_DRIFT: usize = 12;

/// Lag-1 autocorrelation: how much neighbouring samples resemble each other, -1..=1. 0 for a
/// constant series; `None` below three samples.
pub fn autocorrelation(values: &[f64]) -> Option<f64> {
    if values.len() < 3 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    if variance == 0.0 {
        return Some(0.0);
    }
    let covariance: f64 = values
        .windows(2)
        .map(|pair| (pair[0] - mean) * (pair[1] - mean))
        .sum();
    Some(covariance / variance)
}

/// The equivalent number of independent samples: `n (1 - rho) / (1 + rho)`, the large-sample
/// formula for a first-order autoregressive series (Bayley and Hammersley 1946). Above `n` if
/// neighbours are negatively correlated; `None` below three samples.
pub fn effective_samples(values: &[f64]) -> Option<f64> {
    let rho = autocorrelation(values)?;
    Some(values.len() as f64 * (1.0 - rho) / (1.0 + rho))
}

/// The last third of a series compared with its first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Median of the last third minus median of the first, in the values' unit.
    pub change: f64,
    /// Chance of thirds that differ at least as much if nothing drifted: the rank test of Mann and
    /// Whitney, which neither skewed noise nor a few outliers mislead.
    pub p_value: f64,
}

/// Compares the first and the last third of a series; `None` below [`MIN_FOR_DRIFT`] samples.
///
/// The middle third is left out on purpose: it blurs a trend, and the ends show a short warm-up
/// best.
pub fn drift(values: &[f64]) -> Option<Drift> {
    if values.len() < MIN_FOR_DRIFT {
        return None;
    }
    let third = values.len() / 3;
    let (first, last) = (&values[..third], &values[values.len() - third..]);
    Some(Drift {
        change: median(last)? - median(first)?,
        p_value: mann_whitney(first, last),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn autocorrelation_of_known_series() {
        // Mean 2.5: (0.75 - 0.25 + 0.75) over (2.25 + 0.25 + 0.25 + 2.25).
        assert!((autocorrelation(&[1.0, 2.0, 3.0, 4.0]).unwrap() - 0.25).abs() < 1e-12);
        let alternating: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        assert!((autocorrelation(&alternating).unwrap() + 0.99).abs() < 1e-12);
        assert_eq!(autocorrelation(&[7.0; 9]), Some(0.0));
        assert_eq!(autocorrelation(&[1.0, 2.0]), None);
    }

    #[test]
    fn effective_samples_shrink_with_dependence() {
        let mut rng = fastrand::Rng::with_seed(5);
        let mut state = 0.0;
        let series: Vec<f64> = (0..20_000)
            .map(|_| {
                state = 0.8 * state + rng.f64() - 0.5;
                state
            })
            .collect();
        // (1 - 0.8) / (1 + 0.8) of them.
        let share = effective_samples(&series).unwrap() / 20_000.0;
        assert!((share - 1.0 / 9.0).abs() < 0.01, "{share}");
        assert_eq!(effective_samples(&[5.0; 10]), Some(10.0));
    }

    #[test]
    fn drift_compares_the_outer_thirds() {
        let values: Vec<f64> = (0..30).map(|i| 100.0 + f64::from(i)).collect();
        let drift = drift(&values).unwrap();
        assert_eq!(drift.change, 20.0);
        assert!(drift.p_value < 0.001);
    }

    #[test]
    fn one_huge_outlier_is_no_drift() {
        let mut values: Vec<f64> = (0..30).map(|i| 100.0 + f64::from(i * 7 % 10)).collect();
        values[29] = 1e9;
        assert!(drift(&values).unwrap().p_value > 0.2);
        assert_eq!(drift(&values[..11]), None);
    }
}
