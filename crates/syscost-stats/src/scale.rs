//! How far values spread, where some of them may be of another level.

use super::order::mad;

/// Minimum number of values: of four one may be anywhere.
pub const MIN_VALUES: usize = 4;

/// By how much the root of the mean square of the median absolute deviation is smaller than the
/// standard deviation, for 4 to 12 normally distributed values (simulated, 30,000 samples each); of
/// more it is hardly another.
const FACTORS: [f64; 9] = [
    1.751, 1.555, 1.593, 1.523, 1.539, 1.512, 1.526, 1.502, 1.512,
];

/// A spread, and how well it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The standard deviation.
    pub deviation: f64,
    /// Its degrees of freedom: an ordinary standard deviation with as many varies as much.
    pub freedom: f64,
}

/// The spread of these values by their median absolute deviation (Hampel 1974). Its breakdown point is
/// a half: fewer than half of the values may be of another level, however far away. Values of two
/// levels, half each, do spread by the distance of the two. `None` with fewer than [`MIN_VALUES`].
pub fn of(values: &[f64]) -> Option<Spread> {
    let last = FACTORS.len() - 1;
    let factor = FACTORS[values.len().checked_sub(MIN_VALUES)?.min(last)];
    Some(Spread {
        deviation: factor * mad(values)?,
        // Simulated: 1.5, 2.2, 2.9, 3.7 and 4.4 for 4, 6, 8, 10 and 12 values, and for one more each.
        freedom: 0.365 * (values.len() / 2 * 2) as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::random;

    /// Values of standard deviation 1, the last `moved` of which are of another level.
    fn values(count: usize, moved: usize, rng: &mut fastrand::Rng) -> Vec<f64> {
        let is_moved = |index: usize| index + moved >= count;
        (0..count)
            .map(|index| random(rng) + if is_moved(index) { 1000.0 } else { 0.0 })
            .collect()
    }

    #[test]
    fn it_is_the_standard_deviation_with_its_degrees_of_freedom() {
        let mut rng = fastrand::Rng::with_seed(5);
        for count in MIN_VALUES..=14 {
            let mut found = || of(&values(count, 0, &mut rng)).expect("enough");
            let all: Vec<Spread> = (0..4000).map(|_| found()).collect();
            let mean = |of: fn(f64) -> f64| {
                all.iter().map(|one| of(one.deviation)).sum::<f64>() / all.len() as f64
            };
            let (first, second) = (mean(|one| one), mean(|one| one * one));
            assert!((second - 1.0).abs() < 0.06, "{count}: {second}");
            let freedom = 0.5 / (second / (first * first) - 1.0);
            let is_right = (freedom / all[0].freedom - 1.0).abs() < 0.15;
            assert!(is_right, "{count}: {freedom}");
        }
        assert_eq!(of(&[1.0; 3]), None);
    }

    #[test]
    fn a_change_that_fewer_than_half_have_does_not_widen_it_much() {
        let mut rng = fastrand::Rng::with_seed(9);
        for count in MIN_VALUES..=14 {
            for moved in 1..=(count - 1) / 2 {
                let mut found = || {
                    of(&values(count, moved, &mut rng))
                        .expect("enough")
                        .deviation
                };
                let most = (0..200).map(|_| found()).fold(0.0, f64::max);
                assert!(most < 12.0, "{moved} of {count}: {most}");
            }
        }
        let half: Vec<f64> = (0..12).map(|n| f64::from(n % 2)).collect();
        assert!(of(&half).expect("enough").deviation > 0.5);
    }
}
