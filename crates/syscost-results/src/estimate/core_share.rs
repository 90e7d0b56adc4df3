//! How much of a row is work of the core: the slope of its time against the time of a core cycle.
//!
//! `time = cycles / f + rest`, so a process at a frequency 1 % lower takes 1 % longer if all of it
//! is work of the core, and less otherwise. The processes of a run are measured at several
//! frequencies where other cores' load or the host changes it, and so are the runs of a machine. Each run
//! gives a line through its processes, each machine one through its runs; what both leave open is
//! settled by what most rows are.

use serde::{Deserialize, Serialize};
use syscost_stats::order::median;
use syscost_stats::student;

use super::between::Level;
use super::selection::ChosenSamples;
use crate::measurement::{CoreShare, RoundSamples, Unit};

/// What is believed of a row of which nothing is known: most are work of the core. A mean and a
/// standard deviation (over the 88 rows of the quick profile, of which 60 are work of the core).
const BELIEVED: (f64, f64) = (0.9, 0.25);

/// Points farther from a line than this many standard deviations are left out of it.
const FAR: f64 = 4.0;

/// Distances from a line below this, in logarithms, are no reason to leave a point out.
const CLOSE: f64 = 1e-4;

/// Minimum number of points of a line.
const MIN_POINTS: usize = 4;

/// Sums of the squares and products of the points of straight lines, each around its own means:
/// lines of several runs add up to their common slope.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LineSums {
    /// Degrees of freedom: points less one for each line.
    pub freedom: f64,
    /// Sum of the squares of x.
    pub xx: f64,
    /// Sum of the products.
    pub xy: f64,
    /// Sum of the squares of y.
    pub yy: f64,
}

impl LineSums {
    /// The line through these points `(x, y)`, without those far from it; empty with fewer than
    /// four.
    pub fn through(mut points: Vec<(f64, f64)>) -> Self {
        loop {
            if points.len() < MIN_POINTS {
                return Self::default();
            }
            let mean = |of: fn(&(f64, f64)) -> f64| {
                points.iter().map(of).sum::<f64>() / points.len() as f64
            };
            let (x, y) = (mean(|point| point.0), mean(|point| point.1));
            let mut line = Self {
                freedom: points.len() as f64 - 1.0,
                ..Self::default()
            };
            for point in &points {
                let (dx, dy) = (point.0 - x, point.1 - y);
                line.xx += dx * dx;
                line.xy += dx * dy;
                line.yy += dy * dy;
            }
            let slope = if line.xx > 0.0 {
                line.xy / line.xx
            } else {
                0.0
            };
            let off = |point: &(f64, f64)| (point.1 - y - slope * (point.0 - x)).abs();
            let offs: Vec<f64> = points.iter().map(off).collect();
            // Of normally distributed values the median distance is 0.67 standard deviations.
            let limit = FAR * 1.4826 * median(&offs).unwrap_or(0.0) + CLOSE;
            let before = points.len();
            points.retain(|point| off(point) <= limit);
            if points.len() == before {
                return line;
            }
        }
    }

    /// The line through the processes of a run: the logarithm of the time over that of the length
    /// of a core cycle, as medians of the undisturbed samples of each.
    pub fn of_rounds(rounds: &[RoundSamples], unit: Unit) -> Self {
        let point = |round: &RoundSamples| {
            let (ghz, value) = medians(round, unit)?;
            Some((-ghz.ln(), value))
        };
        let undisturbed = rounds.iter().filter(|round| round.is_undisturbed());
        Self::through(undisturbed.filter_map(point).collect())
    }

    /// The common line of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            freedom: self.freedom + other.freedom,
            xx: self.xx + other.xx,
            xy: self.xy + other.xy,
            yy: self.yy + other.yy,
        }
    }

    /// The same line as if it had at most this many degrees of freedom.
    #[must_use]
    pub fn at_most(self, freedom: f64) -> Self {
        let share = if self.freedom > freedom {
            freedom / self.freedom
        } else {
            1.0
        };
        Self {
            freedom: share * self.freedom,
            xx: share * self.xx,
            xy: share * self.xy,
            yy: share * self.yy,
        }
    }

    /// Whether points can have these sums: none is negative, and products are at most what the
    /// squares allow. Those of a line through few points may be wrong in their last digits.
    pub(super) fn is_plausible(&self) -> bool {
        let Self {
            freedom,
            xx,
            xy,
            yy,
        } = *self;
        let sums = [freedom, xx, yy].map(|sum| (0.0..1e9).contains(&sum));
        sums == [true; 3] && xy * xy <= 1.001 * xx * yy
    }

    /// The slope and its standard error, for which Student's distribution is used up; `None` if the
    /// points show none.
    fn slope(self) -> Option<(f64, f64)> {
        let freedom = self.freedom - 1.0;
        if freedom < 2.0 || self.xx <= 0.0 {
            return None;
        }
        let slope = self.xy / self.xx;
        // Points on one line would be certain beyond the precision of a frequency.
        let rest = (self.yy - slope * self.xy).max(freedom * CLOSE * CLOSE);
        let student = student::quantile_two_sided(0.05, freedom as u32) / 1.96;
        Some((slope, student * (rest / freedom / self.xx).sqrt()))
    }
}

/// The medians of the frequency in GHz and of the logarithm of the time, of a process's undisturbed
/// samples whose frequency is known; `None` with none.
pub(super) fn medians(round: &RoundSamples, unit: Unit) -> Option<(f64, f64)> {
    let samples = ChosenSamples::Own.of(round).filter_map(|(index, value)| {
        let ghz = round.sample_ghz.get(index).filter(|ghz| **ghz > 0.0)?;
        Some((*ghz, unit.logarithm(value)?))
    });
    let (ghz, values): (Vec<f64>, Vec<f64>) = samples.unzip();
    median(&ghz).zip(median(&values))
}

/// How many times as long an operation takes at the frequency `own` as at `ghz`, if this share of
/// its time at `ghz` is work of the core.
pub(crate) fn factor(share: f64, own: f64, ghz: f64) -> f64 {
    share * ghz / own + 1.0 - share
}

impl CoreShare {
    /// The share that the processes of runs show, each run by itself (`within`), and the levels of
    /// runs of this machine at different frequencies (none, or at least four).
    pub fn of(within: LineSums, runs: &[Level]) -> Self {
        let point = |run: &Level| Some((-run.ghz?.ln(), run.level));
        let between = LineSums::through(runs.iter().filter_map(point).collect());
        let seen = [within, between].into_iter().filter_map(LineSums::slope);
        // The mean of all, each by its precision; less certain where they contradict each other.
        let seen: Vec<(f64, f64)> = seen.collect();
        let (mut mean, mut error) = weighted(&seen);
        let chi = seen
            .iter()
            .map(|(slope, own)| ((slope - mean) / own).powi(2));
        error *= (chi.sum::<f64>() / (seen.len().max(2) - 1) as f64)
            .sqrt()
            .max(1.0);
        if seen.is_empty() {
            (mean, error) = BELIEVED;
        } else {
            (mean, error) = weighted(&[(mean, error), BELIEVED]);
        }
        let [low, high] = [-1.96, 1.96].map(|errors| (mean + errors * error).clamp(0.0, 1.0));
        // Nothing is more common than one.
        let share = if high >= 1.0 {
            1.0
        } else {
            mean.clamp(0.0, 1.0)
        };
        Self { share, low, high }
    }

    /// How far a value may be off, as a share of it, that was converted over this distance between
    /// frequencies (as a logarithm).
    pub fn error_over(&self, distance: f64) -> f64 {
        (self.high - self.share).max(self.share - self.low) * distance.abs()
    }
}

/// The mean of values with standard errors, by precision, and its standard error.
fn weighted(values: &[(f64, f64)]) -> (f64, f64) {
    let weights = values.iter().map(|(_, error)| error.powi(-2));
    let sum: f64 = weights.sum();
    let mean = values
        .iter()
        .map(|(value, error)| value * error.powi(-2))
        .sum::<f64>()
        / sum;
    (mean, sum.powf(-0.5))
}

/// How far, as a logarithm, the frequencies of these rounds lie from the one at which the row's cost
/// is given: the median of all processes; 0 where it is not known.
pub(super) fn distance(rounds: &[&RoundSamples], unit: Unit) -> f64 {
    let of = |round: &&RoundSamples| {
        let (ghz, _) = medians(round, unit)?;
        Some((ghz / round.usual_ghz?).ln())
    };
    let all: Vec<f64> = rounds.iter().filter_map(of).collect();
    median(&all).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::normal;

    /// Processes at frequencies around 3 GHz, of whose cost at 3 GHz this share is work of the core.
    fn rounds(share: f64, noise: f64, spread: f64) -> Vec<RoundSamples> {
        let mut rng = fastrand::Rng::with_seed(7);
        (0..40)
            .map(|_| {
                let ghz = 3.0 * (1.0 + spread * (rng.f64() - 0.5));
                let cost = 100.0 * (share * 3.0 / ghz + 1.0 - share);
                RoundSamples {
                    values: vec![cost * (1.0 + noise * normal(&mut rng)); 5],
                    sample_ghz: vec![ghz; 5],
                    ..RoundSamples::default()
                }
            })
            .collect()
    }

    fn shown(share: f64, noise: f64, spread: f64) -> CoreShare {
        let rounds = rounds(share, noise, spread);
        CoreShare::of(LineSums::of_rounds(&rounds, Unit::Nanoseconds), &[])
    }

    #[test]
    fn processes_at_different_frequencies_show_what_is_work_of_the_core() {
        for share in [0.0, 0.3, 0.6] {
            let seen = shown(share, 0.002, 0.1);
            assert!((seen.share - share).abs() < 0.05, "{share}: {seen:?}");
            assert!(seen.low <= share && share <= seen.high, "{share}: {seen:?}");
        }
        // What cannot be distinguished from one is one.
        assert_eq!(shown(1.0, 0.002, 0.1).share, 1.0);
    }

    #[test]
    fn one_frequency_shows_nothing_and_the_interval_says_so() {
        let seen = shown(0.2, 0.01, 0.0005);
        assert!(seen.low < 0.5 && seen.high == 1.0, "{seen:?}");
        assert_eq!(seen, CoreShare { share: 1.0, ..seen });
        // Converted by a tenth, it may be off by more than half of that.
        assert!(seen.error_over(0.1) > 0.04);
    }

    #[test]
    fn runs_at_different_frequencies_add_what_one_does_not_show() {
        let quiet = LineSums::of_rounds(&rounds(0.2, 0.01, 0.0005), Unit::Nanoseconds);
        let level = |ghz: f64| Level {
            ghz: Some(ghz),
            level: (0.2 * 3.0 / ghz + 0.8f64).ln(),
            error: 0.001,
            ..Level::default()
        };
        let runs = [2.7, 2.8, 3.0, 3.1, 3.2, 2.9].map(level);
        let seen = CoreShare::of(quiet, &runs);
        assert!(
            (seen.share - 0.2).abs() < 0.1 && seen.high < 0.5,
            "{seen:?}"
        );
    }

    #[test]
    fn lines_of_several_runs_have_one_slope_whatever_their_levels() {
        let at = |level: f64| {
            LineSums::through(
                (0..8)
                    .map(|n| (f64::from(n), level + 0.5 * f64::from(n)))
                    .collect(),
            )
        };
        let (slope, _) = at(1.0).and(at(50.0)).slope().expect("a slope");
        assert!((slope - 0.5).abs() < 1e-9);
        // A point far off does not bend it.
        let mut points: Vec<(f64, f64)> = (0..8).map(|n| (f64::from(n), f64::from(n))).collect();
        points.push((4.0, 90.0));
        let (slope, _) = LineSums::through(points).slope().expect("a slope");
        assert!((slope - 1.0).abs() < 1e-9, "{slope}");
    }
}
