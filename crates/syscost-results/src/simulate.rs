//! Noise models for checking the intervals: how often does a 95 % interval contain the true value?
//!
//! Each model is layered like real measurements: a process has an offset that lasts its lifetime,
//! and samples vary around it. The true value is the population median of process medians, which a
//! separate long simulation determines.
//!
//! The interval is exact for independent processes, so with a fixed number of rounds its coverage
//! must be that of [`interval::ranks`], whatever the noise within a process. With the stop rule
//! only simulation can tell: a chance run of close medians ends the measurement early, and just
//! then the interval is too narrow.

use syscost_stats::looks::StopRule;
use syscost_stats::{interval, normal::random, order};

use crate::estimate::selection::Conversion;
use crate::measurement::{Cause, Disturbance, RoundSamples, Unit};

/// How a process and its samples vary. The scale is arbitrary, with about 100 for an undisturbed
/// sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoiseModel {
    /// Costs add up: an exponential tail above a floor, and one sample in fifty ten times as far
    /// out.
    Skewed,
    /// Samples fall by up to a fifth over the lifetime of a process, as while a core's clock or a
    /// cache warms up.
    Drifting,
    /// Neighbouring samples resemble each other: first-order autoregressive, lag-1 correlation 0.8.
    Autocorrelated,
    /// A second mode, 30 % higher, has up to four fifths of a process's samples; its share differs
    /// between processes.
    TwoModed,
    /// SMT interference comes and goes, for some samples at a time, and makes them 10 to 80
    /// % more expensive; its share of the time differs between processes, up to almost all of it.
    /// One shared sample in thirty goes unnoticed. A process with too few samples of its own is
    /// repeated.
    Interference,
}

impl NoiseModel {
    /// Every model.
    pub const ALL: [NoiseModel; 5] = [
        NoiseModel::Skewed,
        NoiseModel::Drifting,
        NoiseModel::Autocorrelated,
        NoiseModel::TwoModed,
        NoiseModel::Interference,
    ];

    /// Draws the samples of one process from which its median is taken.
    pub fn process(self, samples: usize, rng: &mut fastrand::Rng) -> Vec<f64> {
        if self != NoiseModel::Interference {
            return self.all_samples(samples, rng);
        }
        loop {
            let round = with_interference(samples, rng);
            if round.is_undisturbed() {
                return round.best(Conversion::new(Unit::Nanoseconds, None));
            }
        }
    }

    fn all_samples(self, samples: usize, rng: &mut fastrand::Rng) -> Vec<f64> {
        let offset = 100.0 * (0.02 * random(rng)).exp();
        let fall = 0.2 * rng.f64();
        let slow_share = 0.8 * rng.f64();
        let mut state = random(rng);
        (0..samples)
            .map(|index| {
                let jitter = (0.01 * random(rng)).exp();
                offset
                    * match self {
                        NoiseModel::Skewed => {
                            let reach = if rng.f64() < 0.02 { 0.5 } else { 0.05 };
                            1.0 - reach * (1.0 - rng.f64()).ln()
                        }
                        NoiseModel::Drifting => {
                            jitter * (1.0 - fall * index as f64 / samples as f64)
                        }
                        NoiseModel::Autocorrelated => {
                            state = 0.8 * state + 0.6 * random(rng);
                            (0.05 * state).exp()
                        }
                        NoiseModel::TwoModed if rng.f64() < slow_share => 1.3 * jitter,
                        NoiseModel::TwoModed | NoiseModel::Interference => jitter,
                    }
            })
            .collect()
    }
}

/// A process whose core is sometimes shared, with its samples tagged as checks of
/// the core would.
fn with_interference(samples: usize, rng: &mut fastrand::Rng) -> RoundSamples {
    let share = 0.98 * rng.f64();
    let slowdown = 1.1 + 0.7 * rng.f64();
    let mut is_there = rng.f64() < share;
    let mut round = RoundSamples {
        values: NoiseModel::Interference.all_samples(samples, rng),
        alone_percent: Some(100.0 * (1.0 - share)),
        ..RoundSamples::default()
    };
    for (sample, value) in (0..).zip(&mut round.values) {
        // It stays for five samples on average.
        if rng.f64() < 0.2 {
            is_there = rng.f64() < share;
        }
        if is_there {
            *value *= slowdown;
            if rng.f64() > 1.0 / 30.0 {
                let cause = Cause::SharedCore;
                round.disturbed.push(Disturbance { sample, cause });
            }
        }
    }
    round
}

/// How often the interval contained the true value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coverage {
    /// Experiments whose interval contained the true value.
    pub covered: u32,
    /// All experiments.
    pub experiments: u32,
    /// Mean width of the intervals, as a share of the true value.
    pub mean_width: f64,
    /// Mean number of rounds until the end.
    pub mean_rounds: f64,
}

impl Coverage {
    /// Share of intervals that contained the true value, 0..=1.
    pub fn share(&self) -> f64 {
        f64::from(self.covered) / f64::from(self.experiments)
    }
}

/// A noise model and its true value, for computing more than one coverage.
#[derive(Debug, Clone)]
pub struct Simulation {
    noise: NoiseModel,
    samples: usize,
    seed: u64,
    truth: f64,
}

impl Simulation {
    /// Determines the true value from 100,000 processes: its error is below 1 % of the width of any
    /// interval simulated here. A process has at least one sample. For [`NoiseModel::Interference`]
    /// the true value is the cost without it.
    pub fn new(noise: NoiseModel, samples: usize, seed: u64) -> Self {
        let samples = samples.max(1);
        let mut rng = fastrand::Rng::with_seed(seed ^ 0x7275_7468);
        let medians: Vec<f64> = (0..100_000)
            .filter_map(|_| order::median(&noise.all_samples(samples, &mut rng)))
            .collect();
        let truth = order::median(&medians).unwrap_or(f64::NAN);
        Simulation {
            noise,
            samples,
            seed,
            truth,
        }
    }

    /// Coverage of `experiments` measurements with a fixed number of rounds; of one there is no
    /// interval and nothing is covered.
    ///
    /// A share over 200 experiments has a standard deviation of 1.5 %; use 10,000 to see the coverage
    /// itself.
    pub fn coverage(&self, rounds: u32, experiments: u32) -> Coverage {
        let rule = StopRule {
            looks: &[rounds],
            target: f64::INFINITY,
            gives_up: false,
        };
        self.coverage_with_stop(rule, experiments)
    }

    /// Coverage with a stop rule whose first look is at six rounds or later.
    pub fn coverage_with_stop(&self, rule: StopRule<'_>, experiments: u32) -> Coverage {
        let mut rng = fastrand::Rng::with_seed(self.seed);
        let mut sum = Coverage {
            covered: 0,
            experiments,
            mean_width: 0.0,
            mean_rounds: 0.0,
        };
        let count = f64::from(experiments);
        for _ in 0..experiments {
            let mut medians = Vec::new();
            let mut found = None;
            for &look in rule.looks {
                while medians.len() < look as usize {
                    medians.extend(order::median(&self.noise.process(self.samples, &mut rng)));
                }
                found = interval::of_median(&medians).or_else(|| interval::of_few(&medians));
                let half_width = || {
                    let (median, interval) = order::median(&medians).zip(found)?;
                    Some((interval.high - median).max(median - interval.low) / median)
                };
                if rule.ends(look, half_width, || medians.clone()) {
                    break;
                }
            }
            sum.mean_rounds += medians.len() as f64 / count;
            if let Some(interval) = found {
                sum.mean_width += (interval.high - interval.low) / self.truth / count;
                sum.covered += u32::from(interval.low <= self.truth && self.truth <= interval.high);
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use syscost_stats::looks;

    use super::*;

    #[test]
    fn coverage_at_every_look_is_the_exact_one() {
        let experiments = 1000;
        for noise in NoiseModel::ALL {
            let simulation = Simulation::new(noise, 9, 7);
            for look in looks::ALL {
                let exact = interval::ranks(look as usize, 0.5).unwrap().coverage;
                let share = simulation.coverage(look, experiments).share();
                let deviation = (exact * (1.0 - exact) / f64::from(experiments)).sqrt();
                assert!(
                    (share - exact).abs() < 4.0 * deviation,
                    "{noise:?} at {look}: {share}, exact {exact}"
                );
                assert!((0.93..0.97).contains(&exact));
            }
        }
    }

    #[test]
    fn the_stop_rule_keeps_the_coverage() {
        // Widths at which each noise stops at many different looks, so that chance can play its
        // part.
        for (noise, target) in NoiseModel::ALL
            .into_iter()
            .zip([0.02, 0.03, 0.03, 0.1, 0.02])
        {
            let simulation = Simulation::new(noise, 9, 3);
            let careful = StopRule {
                looks: &looks::CAREFUL,
                target,
                gives_up: false,
            };
            let full = StopRule {
                looks: &looks::FULL,
                gives_up: true,
                ..careful
            };
            // That of the quick and the default profile.
            let quick = StopRule {
                looks: &looks::QUICK,
                ..full
            };
            for rule in [quick, full, careful] {
                let found = simulation.coverage_with_stop(rule, 2000);
                let share = found.share();
                assert!(
                    (0.93..=0.97).contains(&share),
                    "{noise:?} {rule:?}: {share}"
                );
                let first = f64::from(rule.looks[0]);
                assert!(found.mean_rounds > first, "{found:?}");
            }
        }
    }

    #[test]
    fn the_truth_is_known_where_it_can_be_reckoned() {
        // Offset and jitter are symmetric in the logarithm, so with an odd number of samples the
        // median is 100.
        let truth = Simulation::new(NoiseModel::Autocorrelated, 9, 1).truth;
        assert!((truth / 100.0 - 1.0).abs() < 0.001, "{truth}");
    }

    #[test]
    fn a_wrong_truth_would_be_noticed() {
        let mut simulation = Simulation::new(NoiseModel::Skewed, 9, 2);
        simulation.truth *= 1.03;
        assert!(simulation.coverage(12, 500).share() < 0.5);
        assert_eq!(simulation.coverage(1, 50).covered, 0);
        let found = Simulation::new(NoiseModel::TwoModed, 5, 9).coverage(6, 100);
        assert_eq!((found.experiments, found.mean_rounds.round()), (100, 6.0));
        assert!((0.1..0.5).contains(&found.mean_width), "{found:?}");
    }
}
