//! Shared: Gunther's universal scalability law: how throughput grows with the number of copies that work at
//! once, and why it stops growing.
//!
//! X(n) = λ n / (1 + σ (n − 1) + κ n (n − 1)). λ is the throughput of one copy alone; σ, the
//! *contention*, is the share of the work that only one copy at a time can do; κ, the *coherence*,
//! is the cost for each pair of copies to agree, which lets throughput fall again. With σ = κ = 0
//! throughput grows with the copies; with κ = 0 it is Amdahl's law.
//!
//! n / X(n), the cost of an operation for a copy, is a sum of 1, n − 1 and n (n − 1) with the
//! weights 1/λ, σ/λ and κ/λ: a linear fit. As none of the three may be negative, it is the best of
//! the fits in which some are zero and the others positive. Errors are relative, because noise is.
//! So the result is exact, without start values or iteration.
//!
//! Gunther, *Guerrilla Capacity Planning* (2007).

/// Minimum number of different copy counts to fit: one more than the law has parameters, or a bad
/// fit could not be noticed.
pub(crate) const MIN_POINTS: usize = 4;

/// Parameters of the law.
const PARAMETERS: usize = 3;

/// A fitted law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct UniversalLaw {
    /// Throughput of one copy alone, in the unit of the throughputs.
    pub(crate) lambda: f64,
    /// Contention σ, 0 or more.
    pub(crate) sigma: f64,
    /// Coherence κ, 0 or more.
    pub(crate) kappa: f64,
    /// Typical relative distance of the points from the law: the root mean square, by degrees of
    /// freedom.
    pub(crate) relative_error: f64,
}

impl UniversalLaw {
    /// Throughput of `copies` copies.
    pub(crate) fn throughput(&self, copies: f64) -> f64 {
        let more = copies - 1.0;
        self.lambda * copies / (1.0 + self.sigma * more + self.kappa * copies * more)
    }

    /// What a further copy adds, at this number, to the time of an operation, n / X(n).
    pub(crate) fn added_time(&self, copies: f64) -> f64 {
        (self.sigma + self.kappa * (2.0 * copies - 1.0)) / self.lambda
    }
}

/// Fits the law to throughputs `(copies, throughput)`. `None` with fewer than [`MIN_POINTS`]
/// different numbers of copies, or if a throughput is not positive.
pub(crate) fn fit(points: &[(f64, f64)]) -> Option<UniversalLaw> {
    let mut counts: Vec<f64> = points.iter().map(|(copies, _)| *copies).collect();
    counts.sort_by(f64::total_cmp);
    counts.dedup();
    let legal = |(copies, throughput): &(f64, f64)| {
        *copies >= 1.0 && copies.is_finite() && *throughput > 0.0 && throughput.is_finite()
    };
    if counts.len() < MIN_POINTS || !points.iter().all(legal) {
        return None;
    }
    let max = counts[counts.len() - 1];
    let unit = points[0].1;
    // Columns are scaled to similar size, for numerical accuracy; each line is divided by its
    // target, so that errors are relative.
    let scales = [1.0, max, max * max];
    let lines: Vec<[f64; PARAMETERS]> = points
        .iter()
        .map(|(n, throughput)| {
            let terms = [1.0, n - 1.0, n * (n - 1.0)];
            std::array::from_fn(|k| terms[k] / scales[k] * (throughput / unit) / n)
        })
        .collect();
    // The first weight, 1/λ, is always included.
    let supports: [&[usize]; 4] = [&[0], &[0, 1], &[0, 2], &[0, 1, 2]];
    let (weights, _) = supports
        .into_iter()
        .filter_map(|support| least_squares(&lines, support))
        .filter(|(weights, _)| weights[0] > 0.0 && weights.iter().all(|weight| *weight >= 0.0))
        .min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let [alone, contention, coherence]: [f64; PARAMETERS] =
        std::array::from_fn(|k| weights[k] / scales[k]);
    let mut law = UniversalLaw {
        lambda: unit / alone,
        sigma: contention / alone,
        kappa: coherence / alone,
        relative_error: 0.0,
    };
    let squares: f64 = points
        .iter()
        .map(|(copies, throughput)| (law.throughput(*copies) / throughput - 1.0).powi(2))
        .sum();
    law.relative_error = (squares / (points.len() - PARAMETERS) as f64).sqrt();
    Some(law)
}

/// The weights of these columns, all others being 0, for which the lines' sums are closest to 1,
/// and the remaining sum of squares. `None` if the columns are linearly dependent.
fn least_squares(
    lines: &[[f64; PARAMETERS]],
    columns: &[usize],
) -> Option<([f64; PARAMETERS], f64)> {
    let sum = |value: &dyn Fn(&[f64; PARAMETERS]) -> f64| lines.iter().map(value).sum::<f64>();
    // The normal equations, each with its right side at the end.
    let mut rows: Vec<Vec<f64>> = columns
        .iter()
        .map(|&i| {
            let left = columns.iter().map(|&j| sum(&|line| line[i] * line[j]));
            left.chain([sum(&|line| line[i])]).collect()
        })
        .collect();
    for pivot in 0..rows.len() {
        // The matrix is symmetric and positive definite, so no pivoting is needed.
        let head = rows[pivot][pivot];
        if head <= 1e-12 {
            return None;
        }
        let chosen: Vec<f64> = rows[pivot].iter().map(|value| value / head).collect();
        for (index, row) in rows.iter_mut().enumerate() {
            let factor = row[pivot];
            if index == pivot {
                row.clone_from(&chosen);
            } else {
                row.iter_mut()
                    .zip(&chosen)
                    .for_each(|(value, one)| *value -= factor * one);
            }
        }
    }
    let mut weights = [0.0; PARAMETERS];
    for (row, &column) in rows.iter().zip(columns) {
        weights[column] = *row.last()?;
    }
    let left =
        sum(&|line| (line.iter().zip(&weights).map(|(a, b)| a * b).sum::<f64>() - 1.0).powi(2));
    Some((weights, left))
}

#[cfg(test)]
mod tests {
    use syscost_stats::{normal, order};

    use super::*;

    const COPIES: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 96.0];

    fn law(lambda: f64, sigma: f64, kappa: f64) -> UniversalLaw {
        UniversalLaw {
            lambda,
            sigma,
            kappa,
            relative_error: 0.0,
        }
    }

    fn points(law: &UniversalLaw) -> Vec<(f64, f64)> {
        COPIES.map(|n| (n, law.throughput(n))).to_vec()
    }

    fn near(found: f64, expected: f64, tolerance: f64) -> bool {
        (found - expected).abs() <= tolerance
    }

    #[test]
    fn exact_points_give_back_their_law() {
        for (sigma, kappa) in [
            (0.0, 0.0),
            (0.03, 0.0),
            (0.0, 1e-4),
            (0.3, 0.002),
            (1.0, 0.0),
        ] {
            let true_law = law(5e6, sigma, kappa);
            let found = fit(&points(&true_law)).unwrap();
            assert!(near(found.lambda / 5e6, 1.0, 1e-9), "{found:?}");
            assert!(near(found.sigma, sigma, 1e-9), "{found:?}");
            assert!(near(found.kappa, kappa, 1e-11), "{found:?}");
            assert!(found.relative_error < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn noise_of_three_percent_moves_the_terms_a_little_and_is_the_reported_error() {
        let true_law = law(1e6, 0.05, 3e-4);
        let mut random = fastrand::Rng::with_seed(7);
        let mut laws = Vec::new();
        for _ in 0..400 {
            let noisy: Vec<(f64, f64)> = points(&true_law)
                .into_iter()
                .map(|(n, x)| (n, x * (1.0 + 0.03 * normal::quantile(random.f64()))))
                .collect();
            laws.push(fit(&noisy).unwrap());
        }
        let median = |of: fn(&UniversalLaw) -> f64| {
            order::median(&laws.iter().map(of).collect::<Vec<_>>()).unwrap()
        };
        assert!(near(median(|law| law.sigma), 0.05, 0.003));
        assert!(near(median(|law| law.kappa), 3e-4, 1e-5));
        assert!(near(median(|law| law.relative_error), 0.03, 0.004));
        let far = laws
            .iter()
            .filter(|law| !near(law.sigma, 0.05, 0.02))
            .count();
        assert!(far < 20, "{far} of 400 are far off");
    }

    #[test]
    fn no_term_is_negative() {
        // More than linear: a law would need a negative contention.
        let found = fit(&COPIES.map(|n| (n, n.powf(1.1)))).unwrap();
        assert_eq!((found.sigma, found.kappa), (0.0, 0.0));
        assert!(found.relative_error > 0.1, "{found:?}");
    }

    #[test]
    fn what_follows_no_law_shows_in_the_error() {
        // Scales within a package of 16 and gains nothing beyond.
        let found = fit(&COPIES.map(|n| (n, if n <= 16.0 { n } else { 2.0 }))).unwrap();
        assert!(found.relative_error > 0.3, "{found:?}");
    }

    #[test]
    fn few_points_and_impossible_ones_have_no_law() {
        let good = points(&law(1.0, 0.1, 0.0));
        assert!(fit(&good[..4]).is_some() && fit(&good[..3]).is_none());
        assert_eq!(
            fit(&[good[0], good[0], good[1], good[2]]),
            None,
            "three different ones"
        );
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut points = good.clone();
            points[2].1 = bad;
            assert_eq!(fit(&points), None);
        }
    }

    /// The ray tracer of Gunther's book (2007, chapter 5) on 1 to 64 processors. Fitted by absolute
    /// errors, the R package usl finds λ = 21.849, σ = 0.05777, κ = 0; relative errors give the
    /// small counts more weight.
    #[test]
    fn a_published_example_that_contention_holds_back() {
        let found = fit(&[
            (1.0, 20.0),
            (4.0, 78.0),
            (8.0, 130.0),
            (12.0, 170.0),
            (16.0, 190.0),
            (20.0, 200.0),
            (24.0, 210.0),
            (28.0, 230.0),
            (32.0, 260.0),
            (48.0, 280.0),
            (64.0, 310.0),
        ])
        .unwrap();
        assert!(near(found.lambda, 21.849, 0.2), "{found:?}");
        assert!(near(found.sigma, 0.05777, 0.002), "{found:?}");
        assert!(found.kappa < 1e-5, "{found:?}");
    }

    /// SPEC SDM91 on a SPARCcenter 2000: κ = 1.044e-4 and a peak at 96.5 users, published with the
    /// R package usl.
    #[test]
    fn a_published_example_whose_throughput_falls_again() {
        let found = fit(&[
            (1.0, 64.9),
            (18.0, 995.9),
            (36.0, 1652.4),
            (72.0, 1853.2),
            (108.0, 1828.9),
            (144.0, 1775.0),
            (216.0, 1702.2),
        ])
        .unwrap();
        assert!(near(found.kappa, 1.044e-4, 0.15e-4), "{found:?}");
        let peak = ((1.0 - found.sigma) / found.kappa).sqrt();
        assert!(near(peak, 96.5, 5.0), "{found:?}");
    }
}
