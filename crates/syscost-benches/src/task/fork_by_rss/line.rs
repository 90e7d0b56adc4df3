//! A straight line fitted to costs by size.

use syscost_results::stats::order::median;

/// The line `intercept + slope * size`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line {
    pub(super) slope: f64,
    pub(super) intercept: f64,
}

impl Line {
    /// Fitted by the method of Theil and Sen: the median of the slopes between all pairs of points,
    /// which is robust against a single outlier. `None` with less than two sizes.
    pub(super) fn through(points: &[(f64, f64)]) -> Option<Self> {
        let mut slopes = Vec::new();
        for (index, (x, y)) in points.iter().enumerate() {
            let others = points[index + 1..].iter().filter(|(other, _)| other != x);
            slopes.extend(others.map(|(other_x, other_y)| (other_y - y) / (other_x - x)));
        }
        let slope = median(&slopes)?;
        let rests: Vec<f64> = points.iter().map(|(x, y)| y - slope * x).collect();
        let intercept = median(&rests)?;
        Some(Self { slope, intercept })
    }

    /// The largest distance of a point from the line, relative to the point.
    pub(super) fn largest_deviation(&self, points: &[(f64, f64)]) -> f64 {
        points
            .iter()
            .map(|(x, y)| ((y - self.intercept - self.slope * x) / y).abs())
            .fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_and_nothing_deviates_from_it() {
        let points = [(1.0, 12.0), (2.0, 14.0), (4.0, 18.0)];
        let line = Line::through(&points).unwrap();
        assert_eq!((line.slope, line.intercept), (2.0, 10.0));
        assert!(line.largest_deviation(&points) < 1e-12);
    }

    #[test]
    fn one_point_that_is_off_does_not_turn_the_line() {
        let points = [
            (1.0, 12.0),
            (2.0, 14.0),
            (3.0, 160.0),
            (4.0, 18.0),
            (5.0, 20.0),
        ];
        let line = Line::through(&points).unwrap();
        assert_eq!((line.slope, line.intercept), (2.0, 10.0));
        assert!(line.largest_deviation(&points) > 0.8);
    }

    #[test]
    fn one_size_makes_no_line() {
        assert_eq!(Line::through(&[(1.0, 2.0), (1.0, 3.0)]), None);
    }
}
