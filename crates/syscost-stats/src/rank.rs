//! The rank test of Mann and Whitney (1947), "On a test of whether one of two random variables is
//! stochastically larger than the other".

use super::normal;

/// Two-sided p-value for two independent samples from one distribution, by the normal approximation
/// with tie and continuity corrections; accurate from four values per side. 1 if a side is empty or
/// all values are equal.
pub(crate) fn mann_whitney(left: &[f64], right: &[f64]) -> f64 {
    let (m, n) = (left.len() as f64, right.len() as f64);
    let mut all: Vec<(f64, bool)> = left.iter().map(|&value| (value, true)).collect();
    all.extend(right.iter().map(|&value| (value, false)));
    all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));

    let mut rank_sum = 0.0;
    let mut tie_sum = 0.0;
    let mut before = 0.0;
    for tied in all.chunk_by(|a, b| a.0 == b.0) {
        let count = tied.len() as f64;
        let of_left = tied.iter().filter(|(_, is_left)| *is_left).count() as f64;
        rank_sum += of_left * (before + (count + 1.0) / 2.0);
        tie_sum += count.powi(3) - count;
        before += count;
    }
    let total = m + n;
    let variance = m * n / 12.0 * (total + 1.0 - tie_sum / (total * (total - 1.0)).max(1.0));
    if variance <= 0.0 {
        return 1.0;
    }
    let distance = (rank_sum - m * (m + 1.0) / 2.0 - m * n / 2.0).abs() - 0.5;
    (2.0 * normal::cdf(-distance.max(0.0) / variance.sqrt())).min(1.0)
}

/// The rank of each value, from 1; equal values share their mean rank.
pub(crate) fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0.0;
    for tied in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let count = tied.len() as f64;
        for &place in tied {
            ranks[place] = before + (count + 1.0) / 2.0;
        }
        before += count;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_their_rank() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
        assert!(ranks(&[]).is_empty());
    }

    #[test]
    fn agrees_with_reference_figures() {
        // scipy.stats.mannwhitneyu(..., method="asymptotic").
        let separated = mann_whitney(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]);
        assert!(
            (separated - 0.030_382_821_976_577_44).abs() < 1e-12,
            "{separated}"
        );
        let tied = mann_whitney(&[1.0, 2.0, 2.0, 3.0, 5.0], &[2.0, 4.0, 5.0, 5.0, 9.0, 9.0]);
        assert!((tied - 0.076_550_849_369_853_42).abs() < 1e-12, "{tied}");
    }

    #[test]
    fn equal_or_missing_values_prove_nothing() {
        assert_eq!(mann_whitney(&[1.0; 5], &[1.0; 5]), 1.0);
        assert_eq!(mann_whitney(&[], &[1.0, 2.0]), 1.0);
        assert_eq!(mann_whitney(&[], &[]), 1.0);
    }
}
