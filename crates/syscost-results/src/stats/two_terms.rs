//! Least squares for two terms whose weighted sum should be 1 in each line: a model of times, with
//! each term divided by the time, so that errors are relative.

/// The sums over the lines that the fit needs.
pub(super) struct TwoTerms<'l> {
    lines: &'l [[f64; 2]],
    /// Of the first term squared, of the product of both, of the second squared.
    aa: f64,
    ab: f64,
    bb: f64,
    /// Of each term.
    a: f64,
    b: f64,
}

impl<'l> TwoTerms<'l> {
    pub(super) fn of(lines: &'l [[f64; 2]]) -> Self {
        let sum = |value: &dyn Fn(&[f64; 2]) -> f64| lines.iter().map(value).sum::<f64>();
        Self {
            lines,
            aa: sum(&|[a, _]| a * a),
            ab: sum(&|[a, b]| a * b),
            bb: sum(&|[_, b]| b * b),
            a: sum(&|[a, _]| *a),
            b: sum(&|[_, b]| *b),
        }
    }

    /// The weights of both terms, of any sign.
    pub(super) fn both(&self) -> [f64; 2] {
        let determinant = self.aa * self.bb - self.ab * self.ab;
        [
            (self.a * self.bb - self.b * self.ab) / determinant,
            (self.b * self.aa - self.a * self.ab) / determinant,
        ]
    }

    /// The weights without the second term.
    pub(super) fn first_alone(&self) -> [f64; 2] {
        [self.a / self.aa, 0.0]
    }

    /// The weights without the first term.
    pub(super) fn second_alone(&self) -> [f64; 2] {
        [0.0, self.b / self.bb]
    }

    /// The sum of squared residuals for these weights.
    pub(super) fn left(&self, [first, second]: [f64; 2]) -> f64 {
        let left = |[a, b]: &[f64; 2]| (first * a + second * b - 1.0).powi(2);
        self.lines.iter().map(left).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_exact_lines_are_found() {
        // 2 a + 3 b is 1.
        let lines = [[0.5, 0.0], [0.0, 1.0 / 3.0], [0.2, 0.2]];
        let fit = TwoTerms::of(&lines);
        let [first, second] = fit.both();
        assert!((first - 2.0).abs() < 1e-12 && (second - 3.0).abs() < 1e-12);
        assert!(fit.left([first, second]) < 1e-20);
        assert!(fit.left(fit.first_alone()) > 0.1 && fit.left(fit.second_alone()) > 0.1);
    }
}
