//! Order statistics: median, quantiles, and spreads based on them.
//!
//! Values must be finite. An empty slice has no order statistics: every function returns `None` for
//! it.

/// The values in ascending order.
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// The quantile `q` in 0..=1 by definition 7 of Hyndman and Fan (1996), "Sample quantiles in
/// statistical packages": linear between the order statistics around position `(n - 1) q`, so 0 is
/// the minimum and 1 the maximum.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    quantile_of_sorted(&sorted(values), q)
}

/// [`quantile`] of values that are already sorted in ascending order.
pub fn quantile_of_sorted(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = q.clamp(0.0, 1.0) * last as f64;
    let below = sorted[position.floor() as usize];
    let above = sorted[position.ceil() as usize];
    Some(below + (above - below) * position.fract())
}

/// The middle value, or the mean of the two middle values.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let (half, is_odd) = (sorted.len() / 2, sorted.len() % 2 == 1);
    let above = *sorted.get(half)?;
    // As every other program does it, so that published medians can be had to the last digit.
    Some(if is_odd {
        above
    } else {
        (sorted[half - 1] + above) / 2.0
    })
}

/// The middle value, or the larger of the two middle values: always one of the values.
pub fn high_median(values: &[f64]) -> Option<f64> {
    sorted(values).get(values.len() / 2).copied()
}

/// The value that a share `q` of the values does not exceed (nearest rank): always one of the values.
pub fn nearest_rank(values: &mut [f64], q: f64) -> Option<f64> {
    let rank = rank(q, values.len() as u64)? as usize;
    Some(*values.select_nth_unstable_by(rank, f64::total_cmp).1)
}

/// As [`nearest_rank`], of the values of bins, ascending, each with its count.
pub fn nearest_rank_of_bins(bins: &[(f64, u64)], q: f64) -> Option<f64> {
    of_rank(bins, rank(q, bins.iter().map(|(_, count)| count).sum())?)
}

/// The value of this rank, from 0, of the values of bins, ascending, each with its count.
pub fn of_rank(bins: &[(f64, u64)], rank: u64) -> Option<f64> {
    let mut seen = 0;
    let found = bins.iter().find(|(_, count)| {
        seen += count;
        rank < seen
    });
    found.map(|(value, _)| *value)
}

/// The place, from 0, of the value that a share `q` of so many does not exceed; `None` if there are none.
fn rank(q: f64, count: u64) -> Option<u64> {
    let last = count.checked_sub(1)?;
    Some(
        ((q * count as f64).ceil() as u64)
            .saturating_sub(1)
            .min(last),
    )
}

/// Median absolute deviation from the median, not scaled to a normal distribution's standard deviation.
pub fn mad(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    median(&deviations)
}

/// Interquartile range: the width of the middle half.
pub fn iqr(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    Some(quantile_of_sorted(&sorted, 0.75)? - quantile_of_sorted(&sorted, 0.25)?)
}

/// The smallest value.
pub fn min(values: &[f64]) -> Option<f64> {
    values.iter().copied().reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_follow_definition_7() {
        // Values from R: quantile(c(1,2,4,8,16,32), c(.1,.25,.5,.75,.9), type=7).
        let values = [32.0, 1.0, 16.0, 2.0, 8.0, 4.0];
        for (q, expected) in [
            (0.1, 1.5),
            (0.25, 2.5),
            (0.5, 6.0),
            (0.75, 14.0),
            (0.9, 24.0),
        ] {
            assert!(
                (quantile(&values, q).unwrap() - expected).abs() < 1e-12,
                "{q}"
            );
        }
        assert_eq!(quantile(&values, 0.0), Some(1.0));
        assert_eq!(quantile(&values, 1.0), Some(32.0));
    }

    #[test]
    fn a_high_median_is_one_of_the_values() {
        assert_eq!(high_median(&[64.0, 48.0, 64.0, 48.0]), Some(64.0));
        assert_eq!(high_median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(high_median(&[]), None);
    }

    #[test]
    fn a_nearest_rank_is_a_value_that_occurred() {
        let mut values: Vec<f64> = (1..=1000).rev().map(f64::from).collect();
        let bins: Vec<(f64, u64)> = (0..=11).map(|bin| (100.0 * f64::from(bin), 100)).collect();
        for (q, value, bin) in [
            (0.0, 1.0, 100.0),
            (0.5, 500.0, 500.0),
            (0.501, 501.0, 600.0),
            (0.999, 999.0, 1000.0),
            (1.0, 1000.0, 1000.0),
        ] {
            assert_eq!(nearest_rank(&mut values, q), Some(value));
            assert_eq!(nearest_rank_of_bins(&bins[1..11], q), Some(bin));
        }
        assert_eq!(nearest_rank_of_bins(&[(1.0, 0), (2.0, 1)], 0.0), Some(2.0));
        assert_eq!(nearest_rank(&mut [], 0.5), None);
        assert_eq!(nearest_rank_of_bins(&[(1.0, 0)], 0.5), None);
    }

    #[test]
    fn spreads_of_a_known_sample() {
        let values = [1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0];
        assert_eq!(median(&values), Some(2.0));
        assert_eq!(mad(&values), Some(1.0));
        assert_eq!(iqr(&values), Some(3.5));
        assert_eq!(min(&values), Some(1.0));
    }

    #[test]
    fn an_empty_sample_has_no_statistic_and_one_value_is_all_of_them() {
        for statistic in [median, mad, iqr, min] {
            assert_eq!(statistic(&[]), None);
        }
        assert_eq!(
            (median(&[3.0]), mad(&[3.0]), iqr(&[3.0])),
            (Some(3.0), Some(0.0), Some(0.0))
        );
    }
}
