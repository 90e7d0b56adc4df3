//! The level of some values and how certain it is: their trimmed mean (Tukey and McLaughlin, 1963), and
//! differences of two such levels (Yuen, "The two-sample trimmed t for unequal population variances",
//! 1974, with Welch's degrees of freedom, 1947).
//!
//! One statistic for the interval and for the chance that nothing differs, whatever the spreads and
//! the numbers of both sides. A tenth is cut off at each end: of fewer than ten values none, because
//! few values cannot spare a degree of freedom.

use super::interval::CONFIDENCE;
use super::order::sorted;
use super::student::{self, deviation, mean};

/// From so many degrees of freedom on a reach is that of an exact error.
const MAX_FREEDOM: f64 = 1000.0;

/// A level that is no farther from zero is zero: logarithms have rounding errors.
const ROUNDING: f64 = 1e-9;

/// One in this many is cut off at each end.
const TRIMMED: usize = 10;

/// A level, its standard error, and the degrees of freedom of that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// The trimmed mean.
    pub mean: f64,
    /// Its standard error; 0 of a single value.
    pub error: f64,
    /// At least 1.
    pub freedom: f64,
}

impl Level {
    /// That of independent values; `None` without any.
    pub fn of(values: &[f64]) -> Option<Self> {
        let cut = values.len() / TRIMMED;
        let sorted = sorted(values);
        let kept = &sorted[cut..sorted.len() - cut];
        let (first, last) = (*kept.first()?, *kept.last()?);
        // Winsorized: those cut off count as the nearest that is kept.
        let all: Vec<f64> = sorted
            .iter()
            .map(|value| value.clamp(first, last))
            .collect();
        let [count, left] = [all.len(), kept.len()].map(|count| count as f64);
        let scale = ((count - 1.0) / (left * (left - 1.0)).max(1.0)).sqrt();
        Some(Self {
            mean: mean(kept),
            error: deviation(&all) * scale,
            freedom: (left - 1.0).max(1.0),
        })
    }

    /// How far `self` lies above another level.
    pub fn minus(self, base: Self) -> Self {
        let squares = [self, base].map(|side| side.error.powi(2));
        let sum: f64 = squares.iter().sum();
        let parts = squares[0].powi(2) / self.freedom + squares[1].powi(2) / base.freedom;
        Self {
            mean: self.mean - base.mean,
            error: sum.sqrt(),
            freedom: match parts > 0.0 {
                true => (sum.powi(2) / parts).clamp(1.0, MAX_FREEDOM),
                false => (self.freedom + base.freedom).min(MAX_FREEDOM),
            },
        }
    }

    /// With a further, independent error that is known well.
    #[must_use]
    pub fn beside(self, error: f64) -> Self {
        if error == 0.0 {
            return self;
        }
        let exact = Self {
            mean: 0.0,
            error,
            freedom: MAX_FREEDOM,
        };
        self.minus(exact)
    }

    /// Half the width of its 95 % interval.
    pub fn reach(self) -> f64 {
        student::quantile_two_sided(1.0 - CONFIDENCE, self.whole_freedom()) * self.error
    }

    /// The chance of a level so far from zero if it were zero.
    pub fn p_value(self) -> f64 {
        match self.mean.abs() < ROUNDING {
            true => 1.0,
            false => student::two_sided(self.mean / self.error, self.whole_freedom()),
        }
    }

    /// Its degrees of freedom, rounded down: cautiously.
    pub fn whole_freedom(self) -> u32 {
        self.freedom.max(1.0) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::random;

    #[test]
    fn few_values_have_a_mean_and_students_error() {
        let level = Level::of(&[1.0, 2.0, 3.0, 4.0]).expect("values");
        assert_eq!((level.mean, level.freedom), (2.5, 3.0));
        assert!((level.error - deviation(&[1.0, 2.0, 3.0, 4.0]) / 2.0).abs() < 1e-12);
        let one = Level::of(&[7.0]).expect("a value");
        assert_eq!((one.mean, one.error, one.freedom), (7.0, 0.0, 1.0));
        assert_eq!(Level::of(&[]), None);
    }

    #[test]
    fn a_tenth_may_be_anywhere() {
        let values: Vec<f64> = (0..20).map(f64::from).collect();
        let level = Level::of(&values).expect("values");
        let far: Vec<f64> = (0..20)
            .map(|n| if n > 17 { 1e9 } else { f64::from(n) })
            .collect();
        let beside = Level::of(&far).expect("values");
        assert_eq!((level.mean, level.freedom), (9.5, 15.0));
        assert_eq!(beside.mean, level.mean);
        assert_eq!(beside.error, level.error);
    }

    #[test]
    fn intervals_cover_and_chances_are_right_whatever_the_sides() {
        let mut rng = fastrand::Rng::with_seed(17);
        let mut level = |count: usize, spread: f64| {
            let values: Vec<f64> = (0..count).map(|_| spread * random(&mut rng)).collect();
            Level::of(&values).expect("values")
        };
        for counts in [(6, 6), (12, 12), (6, 51), (51, 6), (25, 12)] {
            for spreads in [(1.0, 1.0), (1.0, 10.0), (10.0, 1.0)] {
                let trials = 4000;
                let found: Vec<Level> = (0..trials)
                    .map(|_| level(counts.0, spreads.0).minus(level(counts.1, spreads.1)))
                    .collect();
                let missed = found
                    .iter()
                    .filter(|one| one.mean.abs() > one.reach())
                    .count();
                let small = found.iter().filter(|one| one.p_value() < 0.05).count();
                assert_eq!(missed, small, "one statistic for both");
                let share = missed as f64 / f64::from(trials);
                assert!(
                    (0.035..0.07).contains(&share),
                    "{counts:?} {spreads:?}: {share}"
                );
            }
        }
    }
}
