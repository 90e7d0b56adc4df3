//! Hierarchical bootstrap: draws processes first, then samples within each, matching the structure
//! of the noise.
//!
//! For statistics without an exact interval: a slope, a ratio, a mean. Drawing samples as well as
//! processes counts the noise of samples a second time, as the spread of processes already includes
//! it, so the interval is on the wide side.

use super::{normal, order::quantile_of_sorted};

/// Minimum number of processes for the bias-corrected interval, whose acceleration is estimated by
/// leaving out each one.
pub const MIN_FOR_BCA: usize = 20;

/// How to resample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// Number of resamples.
    pub resamples: usize,
    /// Nominal coverage, within 0..1.
    pub confidence: f64,
    /// Seed of the draws; the same seed gives the same interval.
    pub seed: u64,
}

impl Default for Bootstrap {
    /// 10,000 resamples, 95 %.
    fn default() -> Self {
        Bootstrap {
            resamples: 10_000,
            confidence: 0.95,
            seed: 0,
        }
    }
}

/// A bootstrap interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BootstrapInterval {
    /// The statistic of the samples themselves.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Bootstrap {
    /// The percentile interval of `statistic` over `processes`; `None` below two processes, with an
    /// empty process, or without resamples.
    pub fn percentile<P: AsRef<[f64]>>(
        &self,
        processes: &[P],
        statistic: impl Fn(&[Vec<f64>]) -> f64,
    ) -> Option<BootstrapInterval> {
        let resampled = self.resample(processes, &statistic)?;
        let tail = (1.0 - self.confidence) / 2.0;
        resampled.interval(tail, 1.0 - tail)
    }

    /// The bias-corrected and accelerated interval (Efron 1987, "Better bootstrap confidence
    /// intervals"), with the acceleration from leaving out one process at a time; `None` below
    /// [`MIN_FOR_BCA`] processes.
    pub fn bca<P: AsRef<[f64]>>(
        &self,
        processes: &[P],
        statistic: impl Fn(&[Vec<f64>]) -> f64,
    ) -> Option<BootstrapInterval> {
        if processes.len() < MIN_FOR_BCA {
            return None;
        }
        let resampled = self.resample(processes, &statistic)?;
        let bias = resampled.bias();
        let acceleration = acceleration(processes, &statistic);
        let adjusted = |chance: f64| {
            let shifted = bias + normal::quantile(chance);
            normal::cdf(bias + shifted / (1.0 - acceleration * shifted))
        };
        let tail = (1.0 - self.confidence) / 2.0;
        resampled.interval(adjusted(tail), adjusted(1.0 - tail))
    }

    /// The better of the two intervals that the number of processes allows.
    pub fn interval<P: AsRef<[f64]>>(
        &self,
        processes: &[P],
        statistic: impl Fn(&[Vec<f64>]) -> f64,
    ) -> Option<BootstrapInterval> {
        if processes.len() < MIN_FOR_BCA {
            self.percentile(processes, statistic)
        } else {
            self.bca(processes, statistic)
        }
    }

    fn resample<P: AsRef<[f64]>>(
        &self,
        processes: &[P],
        statistic: &impl Fn(&[Vec<f64>]) -> f64,
    ) -> Option<Resampled> {
        let empty = processes.iter().any(|process| process.as_ref().is_empty());
        if processes.len() < 2 || empty || self.resamples == 0 {
            return None;
        }
        let mut rng = fastrand::Rng::with_seed(self.seed);
        let mut drawn: Vec<Vec<f64>> = owned(processes);
        let estimate = statistic(&drawn);
        let mut values: Vec<f64> = (0..self.resamples)
            .map(|_| {
                for process in &mut drawn {
                    let source = processes[rng.usize(..processes.len())].as_ref();
                    process.clear();
                    process.extend((0..source.len()).map(|_| source[rng.usize(..source.len())]));
                }
                statistic(&drawn)
            })
            .collect();
        values.sort_unstable_by(f64::total_cmp);
        Some(Resampled { estimate, values })
    }
}

/// The statistic of every resample, ascending.
struct Resampled {
    estimate: f64,
    values: Vec<f64>,
}

impl Resampled {
    fn interval(&self, low: f64, high: f64) -> Option<BootstrapInterval> {
        Some(BootstrapInterval {
            estimate: self.estimate,
            low: quantile_of_sorted(&self.values, low)?,
            high: quantile_of_sorted(&self.values, high)?,
        })
    }

    /// How far the resamples lean to one side of the estimate, in standard deviations; equal ones
    /// count half.
    fn bias(&self) -> f64 {
        let below = self.values.partition_point(|&value| value < self.estimate);
        let through = self.values.partition_point(|&value| value <= self.estimate);
        let count = self.values.len() as f64;
        let share = (below + through) as f64 / 2.0 / count;
        normal::quantile(share.clamp(0.5 / count, 1.0 - 0.5 / count))
    }
}

/// A sixth of the skewness of the statistic's leave-one-process-out values.
fn acceleration<P: AsRef<[f64]>>(processes: &[P], statistic: &impl Fn(&[Vec<f64>]) -> f64) -> f64 {
    let mut kept = owned(processes);
    let left_out: Vec<f64> = (0..kept.len())
        .map(|out| {
            let process = kept.remove(out);
            let value = statistic(&kept);
            kept.insert(out, process);
            value
        })
        .collect();
    let mean = left_out.iter().sum::<f64>() / left_out.len() as f64;
    let square: f64 = left_out.iter().map(|value| (mean - value).powi(2)).sum();
    let cube: f64 = left_out.iter().map(|value| (mean - value).powi(3)).sum();
    if square == 0.0 {
        0.0
    } else {
        cube / (6.0 * square.powf(1.5))
    }
}

fn owned<P: AsRef<[f64]>>(processes: &[P]) -> Vec<Vec<f64>> {
    processes
        .iter()
        .map(|process| process.as_ref().to_vec())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(processes: &[Vec<f64>]) -> f64 {
        let count: usize = processes.iter().map(Vec::len).sum();
        processes.iter().flatten().sum::<f64>() / count as f64
    }

    fn exponential(rng: &mut fastrand::Rng) -> f64 {
        -(1.0 - rng.f64()).ln()
    }

    /// The share, in percent, of intervals for the mean of skewed processes that contain the true
    /// value, 1.
    fn coverage(
        count: usize,
        interval: impl Fn(&Bootstrap, &[Vec<f64>]) -> BootstrapInterval,
    ) -> f64 {
        let mut rng = fastrand::Rng::with_seed(8);
        let experiments = 400;
        let covered = (0..experiments)
            .filter(|&seed| {
                let processes: Vec<Vec<f64>> = (0..count)
                    .map(|_| {
                        let offset = exponential(&mut rng);
                        (0..4).map(|_| offset + 0.1 * (rng.f64() - 0.5)).collect()
                    })
                    .collect();
                let bootstrap = Bootstrap {
                    resamples: 400,
                    seed,
                    ..Bootstrap::default()
                };
                let found = interval(&bootstrap, &processes);
                found.low <= 1.0 && 1.0 <= found.high
            })
            .count();
        100.0 * covered as f64 / f64::from(experiments as u32)
    }

    #[test]
    fn both_intervals_cover_the_mean_of_skewed_processes() {
        // Bootstrap intervals of a skewed mean are known to cover somewhat less than their nominal
        // coverage at n = 30.
        let percentile = coverage(30, |b, p| b.percentile(p, mean).unwrap());
        let bca = coverage(30, |b, p| b.bca(p, mean).unwrap());
        assert!((89.0..=97.0).contains(&percentile), "{percentile}");
        assert!((90.5..=97.5).contains(&bca), "{bca}");
        assert!(
            bca >= percentile,
            "the correction must not worsen a skewed mean: {bca} < {percentile}"
        );
    }

    #[test]
    fn processes_and_not_samples_carry_the_uncertainty() {
        // Ten processes at ten levels: the interval stays equally wide however many samples each
        // has.
        let levels = |samples: usize| -> Vec<Vec<f64>> {
            (0..10)
                .map(|level| vec![f64::from(level); samples])
                .collect()
        };
        let bootstrap = Bootstrap {
            resamples: 4000,
            ..Bootstrap::default()
        };
        let few = bootstrap.percentile(&levels(2), mean).unwrap();
        let many = bootstrap.percentile(&levels(50), mean).unwrap();
        // Standard error 2.872 / sqrt(10) = 0.908, times 2 * 1.96.
        for interval in [few, many] {
            assert!(
                (interval.high - interval.low - 3.56).abs() < 0.25,
                "{interval:?}"
            );
            assert_eq!(interval.estimate, 4.5);
        }
    }

    #[test]
    fn is_repeatable_and_refuses_too_little() {
        let processes: Vec<Vec<f64>> = (0..20)
            .map(|p| vec![f64::from(p), f64::from(p * p)])
            .collect();
        let bootstrap = Bootstrap {
            resamples: 500,
            ..Bootstrap::default()
        };
        assert_eq!(
            bootstrap.bca(&processes, mean),
            bootstrap.bca(&processes, mean)
        );
        assert_eq!(
            bootstrap.interval(&processes, mean),
            bootstrap.bca(&processes, mean)
        );
        assert_ne!(
            bootstrap.bca(&processes, mean),
            bootstrap.percentile(&processes, mean)
        );
        assert_eq!(bootstrap.bca(&processes[..19], mean), None);
        assert_eq!(bootstrap.percentile(&processes[..1], mean), None);
        assert_eq!(bootstrap.percentile(&[vec![1.0], vec![]], mean), None);
    }
}
