//! Student's t distribution ("The probable error of a mean", 1908).

use std::f64::consts::FRAC_2_PI;

/// Beyond this many degrees of freedom no printed chance changes by more than a thousandth.
const MAX_FREEDOM: u32 = 100_000;

/// The chance of a value at least as far from zero as `t`, on either side, with `freedom` degrees
/// of freedom (at least one).
///
/// By the finite series for integer degrees of freedom (Abramowitz and Stegun, "Handbook of
/// Mathematical Functions", 26.7.3 and 26.7.4). Chances under 1e-14 are returned as zero, or
/// nearly.
pub fn two_sided(t: f64, freedom: u32) -> f64 {
    // From there on it is practically normal, and a damaged document may ask for billions.
    let freedom = freedom.clamp(1, MAX_FREEDOM);
    let angle = (t.abs() / f64::from(freedom).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let odd = freedom % 2 == 1;
    // 1 + 1/2 cos^2 + (1*3)/(2*4) cos^4 + ... for even, cos + 2/3 cos^3 + (2*4)/(3*5) cos^5 + ...
    // for odd degrees.
    let (mut term, first) = if odd { (cosine, 3) } else { (1.0, 2) };
    let mut sum = 0.0;
    for divisor in (first..=freedom).step_by(2) {
        sum += term;
        term *= cosine * cosine * f64::from(divisor - 1) / f64::from(divisor);
    }
    let within = if odd {
        FRAC_2_PI * (angle + sine * sum)
    } else {
        sine * sum
    };
    (1.0 - within).clamp(0.0, 1.0)
}

/// The mean of some values; NaN if there are none.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Their standard deviation (n - 1); 0 below two.
pub fn deviation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    if count < 2.0 {
        return 0.0;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (count - 1.0)).sqrt()
}

/// The ends of the interval that contains the mean with this confidence; `None` below two values.
pub fn interval(values: &[f64], confidence: f64) -> Option<(f64, f64)> {
    let freedom = u32::try_from(values.len()).ok()?.checked_sub(1)?;
    if freedom == 0 {
        return None;
    }
    let error = deviation(values) / (values.len() as f64).sqrt();
    let reach = error * quantile_two_sided(1.0 - confidence, freedom);
    let mean = mean(values);
    Some((mean - reach, mean + reach))
}

/// The distance from zero that a value exceeds, on either side, with this chance: the inverse of
/// [`two_sided`].
pub fn quantile_two_sided(chance: f64, freedom: u32) -> f64 {
    let (mut near, mut far) = (0.0, 1.0);
    while two_sided(far, freedom) > chance && far < 1e9 {
        far *= 2.0;
    }
    for _ in 0..60 {
        let middle = (near + far) / 2.0;
        if two_sided(middle, freedom) > chance {
            near = middle;
        } else {
            far = middle;
        }
    }
    (near + far) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_tables() {
        // Quantiles of the printed tables: two-sided 5 %, 1 % and 0.1 %.
        for (t, freedom, expected) in [
            (12.706, 1, 0.05),
            (4.303, 2, 0.05),
            (9.925, 2, 0.01),
            (3.182, 3, 0.05),
            (2.571, 5, 0.05),
            (2.228, 10, 0.05),
            (4.587, 10, 0.001),
            (3.965, 17, 0.001),
            (2.042, 30, 0.05),
        ] {
            let chance = two_sided(t, freedom);
            assert!(
                (chance / expected - 1.0).abs() < 2e-3,
                "{t} {freedom}: {chance}"
            );
            assert_eq!(two_sided(-t, freedom), chance);
        }
    }

    #[test]
    fn the_ends_are_certain() {
        for freedom in [1, 2, 10, 33] {
            assert_eq!(two_sided(0.0, freedom), 1.0);
            assert_eq!(two_sided(f64::INFINITY, freedom), 0.0);
        }
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (freedom, t) in [(1, 12.706), (2, 4.303), (10, 2.228), (100, 1.984)] {
            let found = quantile_two_sided(0.05, freedom);
            assert!((found - t).abs() < 1e-3, "{freedom}: {found}");
        }
    }
}
