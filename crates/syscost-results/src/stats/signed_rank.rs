//! Differences measured in pairs: Hodges and Lehmann's estimate and the exact interval of
//! Wilcoxon's signed-rank test ("Estimates of location based on rank tests", 1963).
//!
//! The estimate is the median of all pairwise means. Unlike the median of the differences
//! themselves it lies in the middle if they alternate around it, as they do when the order of the
//! two sides matters. The differences are assumed to be symmetric, which swapping that order
//! ensures.

use super::interval::{CONFIDENCE, Interval};
use super::order::median;

/// The median of the means of all pairs, including each value with itself; `None` without values.
pub fn centre(differences: &[f64]) -> Option<f64> {
    median(&pairwise_means(differences))
}

/// The exact 95 % interval of the centre; `None` below six differences.
pub fn interval(differences: &[f64]) -> Option<Interval> {
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let below = cumulative(differences.len());
    // This many pairwise means lie outside at each end.
    let outside = below.iter().take_while(|chance| **chance <= tail).count();
    let last = outside.checked_sub(1)?;
    let means = pairwise_means(differences);
    Some(Interval {
        low: means[last],
        high: means[means.len() - 1 - last],
        coverage: 1.0 - 2.0 * below[last],
    })
}

/// The means of all pairs, ascending.
fn pairwise_means(values: &[f64]) -> Vec<f64> {
    let mut means: Vec<f64> = (0..values.len())
        .flat_map(|i| {
            values[i..]
                .iter()
                .map(move |other| (values[i] + other) / 2.0)
        })
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    means
}

/// The chances that the sum of the ranks of positive differences is at most 0, 1, 2, … if signs are
/// random.
fn cumulative(count: usize) -> Vec<f64> {
    let max_sum = count * (count + 1) / 2;
    let mut chances = vec![0.0; max_sum + 1];
    chances[0] = 1.0;
    for rank in 1..=count {
        for sum in (0..=max_sum).rev() {
            let with = sum.checked_sub(rank).map_or(0.0, |rest| chances[rest]);
            chances[sum] = (chances[sum] + with) / 2.0;
        }
    }
    let mut total = 0.0;
    chances
        .into_iter()
        .map(|chance| {
            total += chance;
            total
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_those_of_the_tables() {
        // Wilcoxon's table at 5 %, two-sided: the critical sums are 0 for six, 5 for nine, 52 for
        // twenty.
        for (count, critical) in [(6, 0), (9, 5), (20, 52)] {
            let below = cumulative(count);
            assert!(
                below[critical] <= 0.025 && below[critical + 1] > 0.025,
                "{count}"
            );
            assert!((below[below.len() - 1] - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn six_differences_give_their_whole_range() {
        let values = [0.3, 0.1, 0.2, 0.6, 0.5, 0.4];
        let found = interval(&values).expect("an interval");
        assert_eq!((found.low, found.high), (0.1, 0.6));
        assert_eq!(found.coverage, 0.968_75);
        assert_eq!(interval(&values[..5]), None);
        assert!((centre(&values).expect("a centre") - 0.35).abs() < 1e-12);
    }

    #[test]
    fn alternating_differences_are_met_in_their_middle() {
        let alternating: Vec<f64> = (0..9)
            .map(|round| if round % 2 == 0 { 0.03 } else { -0.03 } + 0.001 * f64::from(round % 3))
            .collect();
        let centre = centre(&alternating).expect("a centre");
        assert!(centre.abs() < 0.003, "{centre}");
        assert!(median(&alternating).expect("a median") > 0.02);
    }
}
