//! The standard normal distribution.

/// The chance of a value below `x`.
///
/// Near the middle by the series of Marsaglia (2004), "Evaluating the normal distribution"; in the
/// tails by Laplace's continued fraction, which keeps their relative accuracy.
pub fn cdf(x: f64) -> f64 {
    if x.abs() < 3.0 {
        let mut term = x;
        let mut sum = x;
        let mut odd = 1.0;
        while term.abs() > 1e-17 * sum.abs() {
            odd += 2.0;
            term *= x * x / odd;
            sum += term;
        }
        0.5 + sum * density(x)
    } else {
        let fraction = (1..=60).rev().fold(x.abs(), |fraction, step| {
            x.abs() + f64::from(step) / fraction
        });
        let tail = density(x) / fraction;
        if x < 0.0 { tail } else { 1.0 - tail }
    }
}

/// The value below which a normal value lies with chance `p`, strictly within 0..1. Computed by
/// bisection, as it is rarely needed.
pub fn quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..70 {
        let middle = (low + high) / 2.0;
        if cdf(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// A random value, by Box and Muller (1958).
pub fn random(rng: &mut fastrand::Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.f64()).cos()
}

fn density(x: f64) -> f64 {
    (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_tables() {
        for (x, expected) in [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_543),
            (1.959_963_984_540_054, 0.975),
            (-3.0, 0.001_349_898_031_630_095),
            (-5.0, 2.866_515_718_791_939e-7),
        ] {
            assert!((cdf(x) / expected - 1.0).abs() < 1e-12, "{x}: {}", cdf(x));
            assert!(
                (quantile(expected) - x).abs() < 1e-10,
                "{expected}: {}",
                quantile(expected)
            );
        }
    }

    #[test]
    fn both_formulas_meet_at_three() {
        assert!((cdf(3.0 - 1e-12) - cdf(3.0)).abs() < 1e-13);
    }
}
