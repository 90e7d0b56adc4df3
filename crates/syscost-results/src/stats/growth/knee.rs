//! Exponential growth up to a number of tasks, then linear growth.

use crate::stats::two_terms::TwoTerms;

/// Parameters of the law.
const PARAMETERS: usize = 4;

/// Growth rates to try first, in quarters per task, from e^-7 to e^2 per task; the best one is
/// refined.
const RATES: std::ops::Range<i32> = -28..9;

/// Number of refinement steps, each of which reduces the range by four tenths.
const STEPS: u32 = 40;

/// t(n) = a e^(c n) up to n = k, and t(k) + b (n − k) beyond.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    /// a, the extrapolated time for zero tasks, in the unit of the times.
    pub start: f64,
    /// c, the rate of growth for each task.
    pub rate: f64,
    /// k, the number of tasks at which growth becomes linear: one of those measured.
    pub tasks: f64,
    /// b, what each further task adds; 0 or more.
    pub slope: f64,
}

impl Knee {
    /// The time with this many tasks.
    pub fn time(&self, tasks: f64) -> f64 {
        let within = tasks.min(self.tasks);
        self.start * (self.rate * within).exp() + self.slope * (tasks - within)
    }

    /// The additional time for each further task, at this number.
    pub fn slope(&self, tasks: f64) -> f64 {
        match tasks <= self.tasks {
            true => self.start * self.rate * (self.rate * tasks).exp(),
            false => self.slope,
        }
    }
}

/// The law nearest to points `(tasks, time)`, by ascending number of tasks. `None` unless there is
/// at least one different number of tasks more than parameters, or if a time is not positive.
pub(super) fn fit(points: &[(f64, f64)]) -> Option<Knee> {
    let mut counts: Vec<f64> = points.iter().map(|(tasks, _)| *tasks).collect();
    counts.dedup();
    let legal = |(tasks, time): &(f64, f64)| {
        tasks.is_finite() && *tasks >= 0.0 && *time > 0.0 && time.is_finite()
    };
    if counts.len() <= PARAMETERS || !points.iter().all(legal) {
        return None;
    }
    // At least two points on each side, or one of the parts has nothing to be fitted to.
    let knees = &counts[1..counts.len() - 1];
    let fits = knees.iter().filter_map(|knee| at(*knee, points));
    let best = fits.min_by(|(_, a), (_, b)| a.total_cmp(b));
    best.map(|(law, _)| law)
}

/// The best law with its knee there, and the remaining sum of squares.
fn at(knee: f64, points: &[(f64, f64)]) -> Option<(Knee, f64)> {
    let of = |exponent: f64| linear_part(knee, exponent.exp(), points);
    let step = 0.25;
    let first = RATES
        .map(|number| step * f64::from(number))
        .filter_map(|exponent| Some((exponent, of(exponent)?.1)))
        .min_by(|(_, a), (_, b)| a.total_cmp(b))?
        .0;
    // Golden-section search between the neighbours of the best.
    let (mut low, mut high) = (first - step, first + step);
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    let left = |exponent| of(exponent).map_or(f64::INFINITY, |(_, squares)| squares);
    for _ in 0..STEPS {
        let (near, far) = (high - golden * (high - low), low + golden * (high - low));
        match left(near) <= left(far) {
            true => high = far,
            false => low = near,
        }
    }
    of(f64::midpoint(low, high))
}

/// Start and slope for a given knee and rate, by least squares of the relative errors, and the
/// remaining sum of squares; the slope is not negative.
fn linear_part(knee: f64, rate: f64, points: &[(f64, f64)]) -> Option<(Knee, f64)> {
    // start · grown + slope · beyond should be 1 in each line.
    let lines: Vec<[f64; 2]> = points
        .iter()
        .map(|(tasks, time)| {
            let within = tasks.min(knee);
            [
                (rate * (within - knee)).exp() / time,
                (tasks - within) / time,
            ]
        })
        .collect();
    let fit = TwoTerms::of(&lines);
    let weights = match fit.both() {
        both @ [start, slope] if start > 0.0 && slope >= 0.0 => both,
        _ => fit.first_alone(),
    };
    let ([at_knee, slope], left) = (weights, fit.left(weights));
    let law = Knee {
        start: at_knee * (-rate * knee).exp(),
        rate,
        tasks: knee,
        slope,
    };
    (law.start.is_finite() && law.start > 0.0 && left.is_finite()).then_some((law, left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_curve_gives_back_its_parameters() {
        let truth = Knee {
            start: 80.0,
            rate: 0.15,
            tasks: 16.0,
            slope: 9.0,
        };
        let counts = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 50.0];
        let found = fit(&counts.map(|n| (n, truth.time(n)))).unwrap();
        assert!((found.start / truth.start - 1.0).abs() < 1e-4, "{found:?}");
        assert!((found.rate / truth.rate - 1.0).abs() < 1e-4, "{found:?}");
        assert_eq!(found.tasks, truth.tasks);
        assert!((found.slope / truth.slope - 1.0).abs() < 1e-4, "{found:?}");
        assert!((truth.slope(8.0) / (0.15 * truth.time(8.0)) - 1.0).abs() < 1e-12);
        assert_eq!(truth.slope(32.0), 9.0);
    }

    #[test]
    fn few_points_and_impossible_ones_have_no_law() {
        let good: Vec<(f64, f64)> = (1..6).map(|n| (f64::from(n), f64::from(n))).collect();
        assert!(fit(&good).is_some());
        assert_eq!(fit(&good[..4]), None);
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut points = good.clone();
            points[2].1 = bad;
            assert_eq!(fit(&points), None);
        }
    }
}
