//! Hockney's model of a message: t(n) = t₀ + n / r∞, a fixed time plus a time per byte.
//!
//! t₀ is the latency, the time of an empty message; r∞ is the bandwidth that long messages
//! approach. Half of it is reached with n½ = t₀ r∞ bytes. A linear fit of two weights, neither of
//! which may be negative; errors are relative, because noise is.
//!
//! Hockney, *The communication challenge for MPP: Intel Paragon and Meiko CS-2* (1994).

/// Minimum number of sizes to fit: two more than the model has parameters, or it could fit by
/// chance alone.
pub(super) const MIN_POINTS: usize = 4;

/// Parameters of the model.
const PARAMETERS: usize = 2;

/// A fitted model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Model {
    /// Time of an empty message, in the unit of the times; 0 or more.
    pub(super) latency: f64,
    /// Time per byte; 0 or more.
    pub(super) per_byte: f64,
    /// Typical relative distance of the points from the model: the root mean square, by degrees of
    /// freedom.
    pub(super) relative_error: f64,
}

impl Model {
    /// Time of a message of this many bytes.
    pub(super) fn time(&self, bytes: f64) -> f64 {
        self.latency + bytes * self.per_byte
    }
}

/// Fits the model to points `(bytes, time)`. `None` with fewer than [`MIN_POINTS`] different sizes,
/// or if a time is not positive.
pub(super) fn fit(points: &[(f64, f64)]) -> Option<Model> {
    let mut sizes: Vec<f64> = points.iter().map(|(bytes, _)| *bytes).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let is_legal = |(bytes, time): &(f64, f64)| {
        *bytes >= 0.0 && bytes.is_finite() && *time > 0.0 && time.is_finite()
    };
    if sizes.len() < MIN_POINTS || !points.iter().all(is_legal) {
        return None;
    }
    // Each line is divided by its time, which makes errors relative: latency / t + per_byte n / t
    // should be 1.
    let lines = points
        .iter()
        .map(|(bytes, time)| (1.0 / time, bytes / time));
    let sum = |value: fn((f64, f64)) -> f64| lines.clone().map(value).sum::<f64>();
    let (aa, ab, bb) = (
        sum(|(a, _)| a * a),
        sum(|(a, b)| a * b),
        sum(|(_, b)| b * b),
    );
    let (a, b) = (sum(|(a, _)| a), sum(|(_, b)| b));
    let determinant = aa * bb - ab * ab;
    let best = (
        (a * bb - b * ab) / determinant,
        (b * aa - a * ab) / determinant,
    );
    // If the best fit has a negative weight, the best legal fit has that weight at zero.
    let (latency, per_byte) = match best {
        (latency, per_byte) if latency >= 0.0 && per_byte >= 0.0 => best,
        (latency, _) if latency < 0.0 => (0.0, b / bb),
        _ => (a / aa, 0.0),
    };
    let mut model = Model {
        latency,
        per_byte,
        relative_error: 0.0,
    };
    let squares: f64 = points
        .iter()
        .map(|(bytes, time)| (model.time(*bytes) / time - 1.0).powi(2))
        .sum();
    model.relative_error = (squares / (points.len() - PARAMETERS) as f64).sqrt();
    model.relative_error.is_finite().then_some(model)
}

#[cfg(test)]
mod tests {
    use syscost_stats::{normal, order};

    use super::*;

    const SIZES: [f64; 6] = [1.0, 64.0, 1024.0, 4096.0, 16384.0, 65536.0];

    fn points(latency: f64, per_byte: f64) -> Vec<(f64, f64)> {
        SIZES.map(|n| (n, latency + per_byte * n)).to_vec()
    }

    fn near(found: f64, expected: f64, tolerance: f64) -> bool {
        (found - expected).abs() <= tolerance
    }

    #[test]
    fn exact_points_give_back_their_model() {
        for (latency, per_byte) in [(20_000.0, 0.3), (1e7, 80.0), (500.0, 0.0), (1.0, 8.0)] {
            let found = fit(&points(latency, per_byte)).unwrap();
            assert!(near(found.latency / latency, 1.0, 1e-6), "{found:?}");
            assert!(near(found.per_byte, per_byte, 1e-6), "{found:?}");
            assert!(found.relative_error < 1e-6, "{found:?}");
            assert!(near(
                found.time(1000.0) / (latency + 1000.0 * per_byte),
                1.0,
                1e-6
            ));
        }
    }

    #[test]
    fn noise_moves_the_terms_a_little_and_is_the_reported_error() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut models = Vec::new();
        for _ in 0..400 {
            let noisy: Vec<(f64, f64)> = points(20_000.0, 0.5)
                .into_iter()
                .map(|(n, t)| (n, t * (1.0 + 0.03 * normal::quantile(random.f64()))))
                .collect();
            models.push(fit(&noisy).unwrap());
        }
        let median =
            |of: fn(&Model) -> f64| order::median(&models.iter().map(of).collect::<Vec<_>>());
        assert!(near(median(|m| m.latency).unwrap(), 20_000.0, 300.0));
        assert!(near(median(|m| m.per_byte).unwrap(), 0.5, 0.02));
        assert!(near(median(|m| m.relative_error).unwrap(), 0.03, 0.008));
    }

    #[test]
    fn no_term_is_negative() {
        let falling = fit(&SIZES.map(|n| (n, 1000.0 - n / 100.0))).unwrap();
        assert_eq!(falling.per_byte, 0.0);
        let steep = fit(&SIZES.map(|n| (n, n.powf(1.2)))).unwrap();
        assert_eq!(steep.latency, 0.0);
        assert!(steep.relative_error > 0.2, "{steep:?}");
    }

    #[test]
    fn what_has_a_step_does_not_fit() {
        let step = fit(&SIZES.map(|n| (n, if n < 2000.0 { 100.0 } else { 300.0 }))).unwrap();
        assert!(step.relative_error > 0.3, "{step:?}");
    }

    #[test]
    fn few_points_and_impossible_ones_have_no_model() {
        let good = points(100.0, 1.0);
        assert!(fit(&good[..4]).is_some() && fit(&good[..3]).is_none());
        let thrice = [good[0], good[0], good[1], good[2]];
        assert_eq!(fit(&thrice), None, "three different ones");
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut points = good.clone();
            points[2].1 = bad;
            assert_eq!(fit(&points), None);
        }
    }
}
