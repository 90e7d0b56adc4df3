//! The 95 % confidence interval of a share of which only a count is known.

/// The chance of a success, from `successes` of `tries`, by Wilson (1927), "Probable inference, the
/// law of succession, and statistical inference": its coverage is near the nominal one for few tries
/// and for shares near 0 and 1, where the usual one, of the estimate's own variance, has none. `None`
/// without a try.
pub fn wilson(successes: u64, tries: u64) -> Option<(f64, f64)> {
    /// The 97.5 % quantile of the normal distribution.
    const Z: f64 = 1.959_963_985;
    if tries == 0 {
        return None;
    }
    let (n, share) = (tries as f64, successes as f64 / tries as f64);
    let squared = Z * Z / n;
    let centre = (share + squared / 2.0) / (1.0 + squared);
    let reach = Z / (1.0 + squared) * (share * (1.0 - share) / n + squared / (4.0 * n)).sqrt();
    // At 0 and 1 an end is the share itself, up to rounding.
    let (low, high) = (centre - reach, centre + reach);
    Some((low.clamp(0.0, share), high.clamp(share, 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_the_published_ones() {
        // Newcombe (1998), "Two-sided confidence intervals for the single proportion", table I,
        // method 3.
        for (successes, tries, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let (found_low, found_high) = wilson(successes, tries).expect("there were tries");
            assert!((found_low - low).abs() < 6e-5, "{found_low} of {low}");
            assert!((found_high - high).abs() < 6e-5, "{found_high} of {high}");
        }
        assert_eq!(wilson(0, 0), None);
        for tries in 1..100 {
            assert_eq!(wilson(tries, tries).expect("tries").1, 1.0);
            assert_eq!(wilson(0, tries).expect("tries").0, 0.0);
        }
    }
}
