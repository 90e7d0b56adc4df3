//! Whether the samples have two modes, where they are, and whether a process stays in one of them.
//!
//! Two modes can exist inside each process (an operation sometimes takes the slow path) or between
//! processes (a lucky or unlucky layout that stays for the lifetime of the process). They are
//! looked for separately, since samples of one process are not independent: pooled, every tight
//! process would look like a separate mode.

use super::{
    dip,
    order::{iqr, median, quantile_of_sorted, sorted},
};

/// Minimum distance of modes worth reporting, as a share of the lower one.
pub const SEPARATION: f64 = 0.03;

/// The p-value below which unimodality is rejected.
pub const SIGNIFICANCE: f64 = 0.05;

/// Minimum number of samples for looking for modes inside a process; with fewer, ordinary noise has
/// dips as deep as uniform noise does.
pub const MIN_SAMPLES: usize = 10;

/// Minimum share of every process's samples in one mode for the mode to be called fixed.
const FIXED: f64 = 0.9;

/// Minimum share of the values for a mode: less is a tail.
const MIN_WEIGHT: f64 = 0.05;

/// Two modes of one measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Modes {
    /// The values of the modes.
    pub split: Split,
    /// Whether each process stays in one mode; then the weights count processes, else samples.
    pub fixed_per_process: bool,
    /// The chance of such samples if there is only one mode.
    pub p_value: f64,
}

/// Values divided into a low and a high group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    /// Median of the low group.
    pub low: f64,
    /// Median of the high group.
    pub high: f64,
    /// Share of the values in the high group, 0..1.
    pub high_weight: f64,
    /// Midpoint between the groups' nearest values.
    pub boundary: f64,
}

impl Split {
    /// Whether the groups are further apart than [`SEPARATION`].
    fn is_wide(&self) -> bool {
        self.high - self.low > SEPARATION * self.low.abs()
    }
}

/// Looks for two modes, first between processes, then inside them; `None` if one mode explains the samples.
pub fn two_modes<P: AsRef<[f64]>>(processes: &[P]) -> Option<Modes> {
    between_processes(processes).or_else(|| inside_processes(processes))
}

/// Divides values where the sum of distances to the two medians is smallest (an exact
/// one-dimensional 2-medians, after Fisher 1958, "On grouping for maximum homogeneity"). Values
/// beyond the outer 2 % count as lying at its edge, and a group has at least 5 % of the values, so
/// that a tail is not taken for a mode. `None` below two values.
pub fn split(values: &[f64]) -> Option<Split> {
    let sorted = sorted(values);
    let n = sorted.len();
    if n < 2 {
        return None;
    }
    let edges = (
        quantile_of_sorted(&sorted, 0.02)?,
        quantile_of_sorted(&sorted, 0.98)?,
    );
    let mut sums = vec![0.0];
    for value in &sorted {
        sums.push(sums[sums.len() - 1] + value.clamp(edges.0, edges.1));
    }
    // Sum of distances to the median of sorted[from..to]: upper half minus lower half.
    let spread = |from: usize, to: usize| {
        let half = (to - from) / 2;
        (sums[to] - sums[to - half]) - (sums[from + half] - sums[from])
    };
    let min = ((n as f64 * MIN_WEIGHT).ceil() as usize).max(1);
    let cost = |at: &usize| spread(0, *at) + spread(*at, n);
    let at = (min..=n - min).min_by(|a, b| cost(a).total_cmp(&cost(b)))?;
    Some(Split {
        low: median(&sorted[..at])?,
        high: median(&sorted[at..])?,
        high_weight: (n - at) as f64 / n as f64,
        boundary: (sorted[at - 1] + sorted[at]) / 2.0,
    })
}

/// Modes between processes: their medians dip, the gap is four times as wide as the interquartile
/// range of either group, and nearly all samples of each process are on one side. The gap is
/// required because six medians dip by chance too often.
fn between_processes<P: AsRef<[f64]>>(processes: &[P]) -> Option<Modes> {
    let medians: Vec<f64> = processes
        .iter()
        .filter_map(|process| median(process.as_ref()))
        .collect();
    let p_value = dip::p_value(&untied(&medians)).filter(|&p| p < SIGNIFICANCE)?;
    let split = split(&medians).filter(Split::is_wide)?;
    let (low, high): (Vec<f64>, Vec<f64>) =
        medians.iter().partition(|&&median| median < split.boundary);
    let gap = high.iter().copied().fold(f64::INFINITY, f64::min)
        - low.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let apart = gap > 4.0 * iqr(&low)?.max(iqr(&high)?);
    let fixed = processes
        .iter()
        .map(AsRef::as_ref)
        .filter(|process| !process.is_empty())
        .all(|process| {
            let high = process
                .iter()
                .filter(|&&value| value >= split.boundary)
                .count() as f64;
            let share = high / process.len() as f64;
            share.max(1.0 - share) >= FIXED
        });
    (apart && fixed).then_some(Modes {
        split,
        fixed_per_process: true,
        p_value,
    })
}

/// Modes inside processes: the dips of all processes together, by Fisher's combined probability.
/// Each process is divided by itself, so that differences between processes do not widen the modes.
fn inside_processes<P: AsRef<[f64]>>(processes: &[P]) -> Option<Modes> {
    let large = || {
        processes
            .iter()
            .map(AsRef::as_ref)
            .filter(|process| process.len() >= MIN_SAMPLES)
    };
    let p_values: Vec<f64> = large()
        .filter_map(|process| dip::p_value(&untied(process)))
        .collect();
    let p_value = combined(&p_values).filter(|&p| p < SIGNIFICANCE)?;
    let splits: Vec<Split> = large().filter_map(split).collect();
    let typical = |part: fn(&Split) -> f64| median(&splits.iter().map(part).collect::<Vec<f64>>());
    let split = Split {
        low: typical(|split| split.low)?,
        high: typical(|split| split.high)?,
        high_weight: splits.iter().map(|split| split.high_weight).sum::<f64>()
            / splits.len() as f64,
        boundary: typical(|split| split.boundary)?,
    };
    split.is_wide().then_some(Modes {
        split,
        fixed_per_process: false,
        p_value,
    })
}

/// Spreads equal values evenly over the resolution of the values, the smallest gap between two,
/// since a clock's steps are not modes.
fn untied(values: &[f64]) -> Vec<f64> {
    let mut values = sorted(values);
    // Closer than this, values differ only by rounding.
    let same = |a: f64, b: f64| b - a <= 1e-9 * a.abs().max(b.abs());
    let gaps = values
        .windows(2)
        .filter(|pair| !same(pair[0], pair[1]))
        .map(|pair| pair[1] - pair[0]);
    let Some(step) = gaps.reduce(f64::min) else {
        return values;
    };
    for tied in values.chunk_by_mut(|a, b| same(*a, *b)) {
        let count = tied.len() as f64;
        for (index, value) in tied.iter_mut().enumerate() {
            *value += step * ((index as f64 + 0.5) / count - 0.5);
        }
    }
    values
}

/// The chance of independent p-values at least as extreme together: -2 times the sum of their
/// logarithms is chi-squared with two degrees of freedom each (Fisher, "Statistical Methods for
/// Research Workers", 1932).
fn combined(p_values: &[f64]) -> Option<f64> {
    if p_values.is_empty() {
        return None;
    }
    let half = -p_values.iter().map(|p| p.ln()).sum::<f64>();
    // The tail of chi-squared with an even number of degrees is a sum of Poisson terms.
    let mut term = (-half).exp();
    let mut tail = 0.0;
    for degree in 1..=p_values.len() {
        tail += term;
        term *= half / degree as f64;
    }
    Some(tail.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn processes(
        seed: u64,
        count: usize,
        value: impl Fn(&mut fastrand::Rng, usize) -> f64,
    ) -> Vec<Vec<f64>> {
        let mut rng = fastrand::Rng::with_seed(seed);
        (0..count)
            .map(|process| (0..30).map(|_| value(&mut rng, process)).collect())
            .collect()
    }

    #[test]
    fn splits_by_the_gap_and_not_by_the_tail() {
        let mut values = [vec![100.0; 60], vec![110.0; 39]].concat();
        values.push(5000.0);
        let split = split(&values).unwrap();
        assert_eq!(
            (split.low, split.high, split.boundary),
            (100.0, 110.0, 105.0)
        );
        assert!((split.high_weight - 0.4).abs() < 1e-12);
    }

    #[test]
    fn finds_modes_inside_processes() {
        let samples = processes(1, 6, |rng, _| {
            let slow = if rng.f64() < 0.4 { 10.0 } else { 0.0 };
            100.0 + slow + rng.f64()
        });
        let modes = two_modes(&samples).unwrap();
        assert!(!modes.fixed_per_process);
        assert!((modes.split.low - 100.5).abs() < 0.3 && (modes.split.high - 110.5).abs() < 0.3);
        assert!((modes.split.high_weight - 0.4).abs() < 0.1);
    }

    #[test]
    fn finds_a_mode_that_stays_with_the_process() {
        let samples = processes(2, 12, |rng, process| {
            let unlucky = if process % 2 == 0 { 10.0 } else { 0.0 };
            100.0 + unlucky + rng.f64()
        });
        let modes = two_modes(&samples).unwrap();
        assert!(modes.fixed_per_process);
        assert_eq!(modes.split.high_weight, 0.5);
    }

    #[test]
    fn modes_closer_than_three_percent_are_one() {
        let apart = |gap: f64| {
            processes(3, 6, move |rng, _| {
                100.0 + if rng.bool() { gap } else { 0.0 } + rng.f64() * 0.1
            })
        };
        assert_eq!(two_modes(&apart(2.0)), None);
        assert!(two_modes(&apart(4.0)).is_some());
    }

    #[test]
    fn tight_processes_with_different_offsets_are_not_modes() {
        let mut found = 0;
        for seed in 0..200 {
            let offsets: Vec<f64> = {
                let mut rng = fastrand::Rng::with_seed(1000 + seed);
                (0..10)
                    .map(|_| (0..12).map(|_| rng.f64()).sum::<f64>() * 3.0)
                    .collect()
            };
            let samples = processes(seed, 10, |rng, process| {
                100.0 + offsets[process] + rng.f64() * 0.01
            });
            found += usize::from(two_modes(&samples).is_some());
        }
        assert!(found <= 2, "{found} of 200");
    }

    #[test]
    fn the_steps_of_a_coarse_clock_are_not_modes() {
        let coarse = processes(4, 6, |rng, _| 10.0 + (rng.f64() + rng.f64() - 1.0).round());
        assert_eq!(two_modes(&coarse), None);
        let parted = processes(5, 6, |rng, _| {
            20.0 + (rng.f64() * 2.0).round() + if rng.bool() { 9.0 } else { 0.0 }
        });
        assert!(two_modes(&parted).is_some());
    }

    #[test]
    fn ties_spread_over_one_step() {
        assert_eq!(
            untied(&[4.0, 2.0, 2.0, 2.0, 2.0]),
            [1.25, 1.75, 2.25, 2.75, 4.0]
        );
        assert_eq!(untied(&[3.0, 3.0]), [3.0, 3.0]);
    }

    #[test]
    fn fisher_combination_of_known_values() {
        // chi2.sf(-2 ln(0.05 * 0.1), 4).
        assert!((combined(&[0.05, 0.1]).unwrap() - 0.031_491_586_832_740_18).abs() < 1e-12);
        assert_eq!(combined(&[]), None);
    }
}
