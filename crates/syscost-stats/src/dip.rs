//! The dip test of unimodality: Hartigan and Hartigan (1985), "The dip test of unimodality", Annals
//! of Statistics 13.
//!
//! The dip is the largest distance between the samples' distribution and the closest unimodal
//! distribution. Its p-value compares with uniformly distributed samples, the unimodal distribution
//! that is nearest to having two modes, so the test is conservative.

use super::dip_table;
use super::order::sorted;

/// Minimum number of values for a p-value.
pub(crate) const MIN_VALUES: usize = dip_table::SIZES[0];

/// The dip of a sample, from `1 / (2 n)` (none) to 1/4 (two points); `None` if it is empty.
pub(crate) fn statistic(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let steps = Steps::new(&sorted(values));
    Some(steps.dip() / (2.0 * values.len() as f64))
}

/// The chance of a dip at least as large for as many uniformly distributed values, at least 0.001,
/// the last column of the table; `None` below [`MIN_VALUES`] values.
pub(crate) fn p_value(values: &[f64]) -> Option<f64> {
    if values.len() < MIN_VALUES {
        return None;
    }
    dip_table::p_value(values.len(), statistic(values)?)
}

/// An empirical distribution: at each distinct value it rises from `below` to `through`, in
/// samples.
struct Steps {
    value: Vec<f64>,
    below: Vec<f64>,
    through: Vec<f64>,
}

impl Steps {
    fn new(sorted: &[f64]) -> Self {
        let mut steps = Steps {
            value: Vec::new(),
            below: Vec::new(),
            through: Vec::new(),
        };
        let mut seen = 0.0;
        for equal in sorted.chunk_by(|a, b| a == b) {
            steps.value.push(equal[0]);
            steps.below.push(seen);
            seen += equal.len() as f64;
            steps.through.push(seen);
        }
        steps
    }

    /// Twice the dip, in samples. The modal interval starts as the whole range and shrinks. The
    /// closest distribution must pass between the convex hull from below and the concave hull from
    /// above within it, follow the convex hull to its left, and the concave hull to its right. The
    /// search ends when the hulls are closer than the distance already found.
    fn dip(&self) -> f64 {
        let (mut low, mut high) = (0, self.value.len() - 1);
        let mut dip: f64 = 1.0;
        while low < high {
            let convex = self.hull(&self.below, low, high, 1.0);
            let concave = self.hull(&self.through, low, high, -1.0);
            let gap = self.widest_gap(&convex, &concave);
            if gap.width <= dip {
                break;
            }
            // The larger distance on the sides that leave the modal interval.
            dip = dip
                .max(self.farthest(&self.below, &convex, &self.through, low, gap.low))
                .max(self.farthest(&self.through, &concave, &self.below, gap.high, high));
            if (gap.low, gap.high) == (low, high) {
                break;
            }
            (low, high) = (gap.low, gap.high);
        }
        dip
    }

    /// Corners of the hull of `(value, height)` over `low..=high`: convex from below for `side` 1,
    /// concave from above for -1.
    fn hull(&self, height: &[f64], low: usize, high: usize, side: f64) -> Vec<usize> {
        let mut corners: Vec<usize> = Vec::new();
        for next in low..=high {
            while let [.., first, second] = corners[..] {
                let bend = (height[second] - height[first])
                    * (self.value[next] - self.value[first])
                    - (height[next] - height[first]) * (self.value[second] - self.value[first]);
                if bend * side < 0.0 {
                    break;
                }
                corners.pop();
            }
            corners.push(next);
        }
        corners
    }

    /// Height at step `at` of the polygon through `corners`.
    fn polygon(&self, height: &[f64], corners: &[usize], at: usize) -> f64 {
        let right = corners.partition_point(|&corner| corner < at).max(1);
        let (a, b) = (corners[right - 1], corners[right]);
        let share = (self.value[at] - self.value[a]) / (self.value[b] - self.value[a]);
        height[a] + (height[b] - height[a]) * share
    }

    /// Where the hulls are farthest apart, and the corners around that place: the next modal
    /// interval.
    fn widest_gap(&self, convex: &[usize], concave: &[usize]) -> Gap {
        let mut widest = Gap {
            width: 0.0,
            low: convex[0],
            high: concave[concave.len() - 1],
        };
        for &corner in convex {
            let width = self.polygon(&self.through, concave, corner) - self.below[corner];
            if width > widest.width {
                let right = concave.partition_point(|&other| other < corner);
                widest = Gap {
                    width,
                    low: corner,
                    high: concave[right],
                };
            }
        }
        for &corner in concave {
            let width = self.through[corner] - self.polygon(&self.below, convex, corner);
            if width > widest.width {
                let right = convex.partition_point(|&other| other <= corner);
                widest = Gap {
                    width,
                    low: convex[right - 1],
                    high: corner,
                };
            }
        }
        widest
    }

    /// Largest distance between a hull and the far side of the steps over `from..=to`.
    fn farthest(
        &self,
        height: &[f64],
        corners: &[usize],
        far: &[f64],
        from: usize,
        to: usize,
    ) -> f64 {
        (from..=to)
            .map(|at| (self.polygon(height, corners, at) - far[at]).abs())
            .fold(0.0, f64::max)
    }
}

/// A place where the two hulls are `width` apart, within the steps `low..=high`.
struct Gap {
    width: f64,
    low: usize,
    high: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_reference_implementation() {
        // Values from the `diptest` package (Hartigan's algorithm AS 217 as corrected by Maechler).
        let cases: [(&[f64], f64); 4] = [
            (&[1.0, 1.1, 1.2, 5.0, 5.1, 5.3], 0.231_707_317_073_170_74),
            (&[32.0, 2.0, 4.0, 8.0, 16.0, 1.0], 0.083_333_333_333_333_33),
            (
                &[1.0, 2.0, 3.0, 11.0, 12.0, 13.0, 21.0, 22.0, 23.0],
                0.133_333_333_333_333_36,
            ),
            (
                &[0.0, 1.0, 1.5, 3.0, 4.2, 4.4, 9.0, 9.1, 9.3, 9.9],
                0.153_333_333_333_333_32,
            ),
        ];
        for (values, expected) in cases {
            let dip = statistic(values).unwrap();
            assert!((dip - expected).abs() < 1e-12, "{values:?}: {dip}");
        }
    }

    #[test]
    fn two_equal_heaps_dip_by_a_quarter_and_one_by_nothing() {
        assert_eq!(statistic(&[1.0, 1.0, 1.0, 5.0, 5.0, 5.0]), Some(0.25));
        assert_eq!(statistic(&[4.0; 10]), Some(0.05));
        let even: Vec<f64> = (0..50).map(f64::from).collect();
        assert!((statistic(&even).unwrap() - 0.01).abs() < 1e-12);
        assert_eq!(statistic(&[]), None);
    }

    #[test]
    fn an_atom_beside_the_mode_costs_half_its_weight() {
        // No unimodal distribution has an atom outside its mode: half of 2/8 is the minimum.
        let values = [0.0, 0.0, 10.0, 10.1, 10.2, 10.3, 10.4, 10.5];
        assert!((statistic(&values).unwrap() - 0.125).abs() < 1e-12);
    }
}
