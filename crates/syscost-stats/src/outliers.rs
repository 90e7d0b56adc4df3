//! Counting outliers. They are counted, never dropped: a rare large cost is a cost.

use super::order::{quantile_of_sorted, sorted};

/// The number of values more than three interquartile ranges beyond a quartile: Tukey's outer
/// fences, "Exploratory Data Analysis" (1977). Of normally distributed values about one in 400,000
/// is.
pub fn count(values: &[f64]) -> usize {
    let sorted = sorted(values);
    let (Some(first), Some(third)) = (
        quantile_of_sorted(&sorted, 0.25),
        quantile_of_sorted(&sorted, 0.75),
    ) else {
        return 0;
    };
    let reach = 3.0 * (third - first);
    sorted
        .iter()
        .filter(|&&value| value < first - reach || value > third + reach)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_values_beyond_the_outer_fences_count() {
        // Quartiles 2 and 4: the fences are -4 and 10.
        assert_eq!(count(&[1.0, 2.0, 3.0, 4.0, 10.0]), 0);
        assert_eq!(count(&[1.0, 2.0, 3.0, 4.0, 10.5]), 1);
        assert_eq!(count(&[-5.0, 2.0, 2.5, 3.0, 3.5, 4.0, 100.0]), 2);
        assert_eq!(count(&[]), 0);
    }
}
