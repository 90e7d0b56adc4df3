//! Multiple testing.

/// The rejected hypotheses if at most the share `rate` of them may be wrong on average: the
/// procedure of Benjamini and Hochberg (1995), "Controlling the false discovery rate". It is valid
/// for independent tests and for positively dependent ones (Benjamini and Yekutieli 2001), such as
/// rows of one run, which share a machine.
pub fn benjamini_hochberg(p_values: &[f64], rate: f64) -> Vec<bool> {
    let mut sorted = p_values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let count = sorted.len() as f64;
    let threshold = sorted
        .iter()
        .enumerate()
        .rev()
        .find(|&(index, &p)| p <= rate * (index + 1) as f64 / count)
        .map(|(_, &p)| p);
    p_values
        .iter()
        .map(|&p| threshold.is_some_and(|threshold| p <= threshold))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_what_the_original_paper_rejects() {
        // Benjamini and Hochberg (1995), section 3.2: 15 p-values of a trial, four rejected at 5 %.
        let p_values = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        let rejected = benjamini_hochberg(&p_values, 0.05);
        assert_eq!(rejected.iter().filter(|&&rejected| rejected).count(), 4);
        assert_eq!(rejected[..5], [true, true, true, true, false]);
    }

    #[test]
    fn keeps_the_order_and_takes_a_late_crossing() {
        // The second smallest alone would fail at 0.0333, but the third passes at 0.05.
        assert_eq!(benjamini_hochberg(&[0.05, 0.001, 0.04], 0.05), [true; 3]);
        assert_eq!(
            benjamini_hochberg(&[0.9, 0.01, 0.8], 0.05),
            [false, true, false]
        );
        assert!(benjamini_hochberg(&[], 0.05).is_empty());
    }
}
