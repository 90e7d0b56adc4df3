//! How far runs of one machine differ although nothing changed.
//!
//! An interval over the processes of one run covers what more processes of that run would show.
//! Another run finds memory elsewhere and the other cores under another load, so its level differs by
//! more. How much more is taken from the runs that this machine kept, once there are some; until
//! then it is believed that processes of one run resemble each other a little.

use serde::{Deserialize, Serialize};
use syscost_stats::interval::CONFIDENCE;
use syscost_stats::order::median;
use syscost_stats::scale::{self, Spread};
use syscost_stats::{normal, student};

use super::core_share::{factor, medians};
use super::selection::{ChosenSamples, Selection};
use crate::measurement::{Better, BetweenRuns, EarlierRun, RoundSamples, Unit};

/// The share of the deviation of a run's processes by which runs differ in addition, and the
/// deviation of runs whose processes agree perfectly. (Ten quick runs on a Xeon guest, cores ours 31 to
/// 55 %, differ by 0.3 % in work of the core alone; six of an hour before, by 0.1 %; 2026-11-26.)
const BELIEVED: (f64, f64) = (0.4, 0.002);

/// As how many degrees of freedom the belief counts beside those of what was seen.
const BELIEF_FREEDOM: f64 = 4.0;

/// Minimum number of processes that say how far processes differ.
pub const MIN_PROCESSES: usize = 3;

/// A mean distance from the median is this many times smaller than the standard deviation of a
/// normal distribution, and the error of a median as many times larger than that of a mean.
const ROOT_HALF_PI: f64 = 1.2533;

/// The level of a row in one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Median over its processes of the core's frequency, in GHz; null where it is not known.
    pub ghz: Option<f64>,
    /// Median over its processes of the logarithm of the time as measured; of the negative logarithm
    /// of what is no time.
    pub level: f64,
    /// Standard error of that.
    pub error: f64,
    /// Id of the run.
    #[serde(default)]
    pub run: String,
}

impl Level {
    /// The level of these rounds; `None` if too few of them are undisturbed or positive.
    pub fn of(rounds: &[RoundSamples], unit: Unit) -> Option<Self> {
        let undisturbed = || rounds.iter().filter(|round| round.is_undisturbed());
        let known = undisturbed().filter_map(|round| medians(round, unit));
        let (ghz, mut levels): (Vec<f64>, Vec<f64>) = known.unzip();
        if levels.is_empty() {
            levels = undisturbed()
                .filter_map(|round| {
                    let samples = ChosenSamples::Own.of(round).map(|(_, value)| value);
                    unit.logarithm(median(&samples.collect::<Vec<_>>())?)
                })
                .collect();
        }
        let level = median(&levels).filter(|_| levels.len() >= MIN_PROCESSES)?;
        // What the frequency adds to the spread of processes is taken off when they are converted:
        // the true error lies between that of times and that of cycles.
        let cycles: Vec<f64> = levels
            .iter()
            .zip(&ghz)
            .map(|(level, ghz)| level + ghz.ln())
            .collect();
        let spread = match cycles.len() == levels.len() {
            true => deviation(&levels).min(deviation(&cycles)),
            false => deviation(&levels),
        };
        let error = ROOT_HALF_PI * spread / (levels.len() as f64).sqrt();
        Some(Self {
            ghz: median(&ghz),
            level,
            error,
            run: String::new(),
        })
    }

    /// Whether a run can have shown this: an error, and a frequency of a core in GHz.
    pub(super) fn is_plausible(&self) -> bool {
        let ghz = self.ghz.is_none_or(|ghz| (0.01..100.0).contains(&ghz));
        ghz && self.level.abs() < 100.0 && (0.0..100.0).contains(&self.error)
    }

    /// The level at this frequency, if this share of it is work of the core.
    pub fn at(&self, usual: Option<f64>, share: f64) -> EarlierRun {
        let time = usual.zip(self.ghz);
        let time = time.map_or(1.0, |(usual, ghz)| factor(share, ghz, usual));
        EarlierRun {
            run: self.run.clone(),
            level: self.level - time.ln(),
            error: self.error,
        }
    }
}

/// The standard deviation of these values by their mean distance from the median, which a few far
/// ones change little.
fn deviation(values: &[f64]) -> f64 {
    let middle = median(values).unwrap_or(0.0);
    let distances = values.iter().map(|value| (value - middle).abs());
    ROOT_HALF_PI * distances.sum::<f64>() / values.len().max(1) as f64
}

impl BetweenRuns {
    /// How far runs differ of which this is one, by these earlier ones. `None` if a relative
    /// deviation makes no sense: with values that are not positive.
    pub fn of(selected: &Selection<'_>, unit: Unit, earlier: &[EarlierRun]) -> Option<Self> {
        let levels = selected.processes.iter();
        let levels: Option<Vec<f64>> = levels
            .map(|process| unit.logarithm(median(process)?))
            .collect();
        let believed = believed(&levels?);
        let seen = seen(&earlier.iter().collect::<Vec<_>>());
        let spread = beside_belief(believed, seen);
        Some(Self {
            deviation: spread.deviation,
            runs: seen.map_or(0, |_| earlier.len() as u32),
            freedom: Some(spread.freedom as u32),
        })
    }

    /// How far a run may be off in one of twenty cases, as a share, if it deviates by this.
    pub(super) fn reach(&self, deviation: f64) -> f64 {
        let exact = normal::quantile(0.975);
        let times = |freedom| student::quantile_two_sided(1.0 - CONFIDENCE, freedom);
        self.freedom.map_or(exact, times) * deviation
    }
}

impl BetweenRuns {
    /// The same to the better side. What disturbs only adds: where it is believed that runs differ
    /// because some processes are far off, these are on the worse side, and other runs are no farther
    /// to the better side than processes of this one.
    pub(super) fn better_deviation(&self, medians: &[f64], better: Better) -> f64 {
        if self.runs > 0 {
            return self.deviation;
        }
        let middle = median(medians).unwrap_or(1.0);
        let off = |value: &f64| match better {
            Better::Lower => (middle / value).ln(),
            Better::Higher => (value / middle).ln(),
        };
        let offs = medians.iter().map(|value| off(value).max(0.0));
        // As many are on that side of the median as on the other.
        let own = 2.0 * ROOT_HALF_PI * offs.sum::<f64>() / medians.len().max(1) as f64;
        self.deviation.min(own.max(BELIEVED.1))
    }
}

/// By how much runs are believed to differ in addition to what their processes, whose levels are these,
/// explain.
pub fn believed(processes: &[f64]) -> f64 {
    (BELIEVED.0 * deviation(processes)).hypot(BELIEVED.1)
}

/// What is believed, and what was seen of earlier runs, if that is more.
pub fn beside_belief(believed: f64, seen: Option<Spread>) -> Spread {
    let (squares, freedom) = seen.map_or((0.0, 0.0), |seen| {
        (seen.freedom * seen.deviation.powi(2), seen.freedom)
    });
    let (sum, freedom) = (
        BELIEF_FREEDOM * believed.powi(2) + squares,
        BELIEF_FREEDOM + freedom,
    );
    let least = seen.map_or(0.0, |seen| seen.deviation);
    Spread {
        deviation: (sum / freedom).sqrt().max(least),
        freedom,
    }
}

/// The deviation between these runs that the processes of each do not explain, unless half of them are
/// of another level; `None` with too few.
pub fn seen(runs: &[&EarlierRun]) -> Option<Spread> {
    let levels: Vec<f64> = runs.iter().map(|run| run.level).collect();
    let all = scale::of(&levels)?;
    let within: Vec<f64> = runs.iter().map(|run| run.error.powi(2)).collect();
    let variance = all.deviation.powi(2) - median(&within)?;
    Some(Spread {
        deviation: variance.max(0.0).sqrt(),
        ..all
    })
}

#[cfg(test)]
mod tests {
    use super::super::selection::{Conversion, select};
    use super::*;
    use crate::fixture::normal;

    /// Six processes whose medians differ by this relative deviation.
    fn rounds(deviation: f64) -> Vec<RoundSamples> {
        let mut rng = fastrand::Rng::with_seed(3);
        (0..6)
            .map(|round| RoundSamples {
                round,
                values: vec![100.0 * (1.0 + deviation * normal(&mut rng)); 5],
                sample_ghz: vec![3.0; 5],
                usual_ghz: Some(3.0),
                ..RoundSamples::default()
            })
            .collect()
    }

    fn between(rounds: &[RoundSamples], share: f64, earlier: &[Level]) -> BetweenRuns {
        let unit = Unit::Nanoseconds;
        let selected = select(rounds, Conversion::new(unit, Some(share)));
        let earlier: Vec<EarlierRun> = earlier.iter().map(|run| run.at(Some(3.0), share)).collect();
        BetweenRuns::of(&selected, unit, &earlier).expect("they are positive")
    }

    #[test]
    fn a_first_run_believes_that_runs_differ_as_its_processes_do_to_a_part() {
        let calm = between(&rounds(0.0), 1.0, &[]);
        assert_eq!((calm.deviation, calm.runs), (BELIEVED.1, 0));
        let wild = between(&rounds(0.05), 1.0, &[]);
        assert!(wild.deviation > 0.005 && wild.deviation < 0.03, "{wild:?}");
    }

    #[test]
    fn what_the_kept_runs_show_counts_more_the_more_there_are() {
        let rounds = rounds(0.0);
        let run = |number: u32| Level {
            ghz: Some(3.0),
            level: 100f64.ln()
                + if number.is_multiple_of(2) {
                    0.02
                } else {
                    -0.02
                },
            error: 0.001,
            ..Level::default()
        };
        let of = |count| between(&rounds, 1.0, &(0..count).map(run).collect::<Vec<_>>());
        assert_eq!(of(3).runs, 0, "too few say nothing");
        let (some, many) = (of(4), of(12));
        assert_eq!((some.runs, many.runs), (4, 12));
        assert!(some.freedom < many.freedom, "{some:?} {many:?}");
        assert!(
            some.deviation >= many.deviation && many.deviation < 0.035,
            "{some:?} {many:?}"
        );
        assert!(many.deviation > 0.015, "{many:?}");
    }

    /// How far these runs differ at 3 GHz, if this share of the cost is work of the core.
    fn seen_at(runs: &[Level], share: f64) -> f64 {
        let runs: Vec<EarlierRun> = runs.iter().map(|run| run.at(Some(3.0), share)).collect();
        seen(&runs.iter().collect::<Vec<_>>())
            .expect("enough")
            .deviation
    }

    #[test]
    fn runs_at_other_frequencies_and_those_after_a_change_do_not_widen_it() {
        let at = |ghz: f64| Level {
            ghz: Some(ghz),
            level: (300.0 / ghz).ln(),
            ..Level::default()
        };
        let mut runs: Vec<Level> = [2.7, 2.8, 3.0, 3.1, 2.9, 3.0].map(at).into();
        assert!(seen_at(&runs, 1.0) < 1e-6);
        assert!(seen_at(&runs, 0.0) > 0.01);
        for (index, run) in runs.iter_mut().enumerate() {
            run.level += 0.001 * index as f64;
        }
        let before = seen_at(&runs, 1.0);
        let after = runs.clone().into_iter().map(|run| Level {
            level: run.level + 2.0,
            ..run
        });
        for after in after.take(5) {
            runs.push(after);
            let now = seen_at(&runs, 1.0);
            assert!(
                (0.5..4.0).contains(&(now / before)),
                "{now} of {}",
                runs.len()
            );
        }
    }

    #[test]
    fn a_frequency_that_wanders_within_runs_hides_nothing_between_them() {
        let mut rng = fastrand::Rng::with_seed(11);
        let mut run = || {
            let level = 300.0 * (1.0 + 0.01 * normal(&mut rng));
            let process = |round| {
                let ghz = 3.0 * (1.0 + 0.03 * normal(&mut rng));
                RoundSamples {
                    round,
                    values: vec![level / ghz; 5],
                    sample_ghz: vec![ghz; 5],
                    ..RoundSamples::default()
                }
            };
            let rounds: Vec<RoundSamples> = (0..6).map(process).collect();
            Level::of(&rounds, Unit::Nanoseconds).expect("a level")
        };
        let runs: Vec<Level> = (0..12).map(|_| run()).collect();
        let deviation = seen_at(&runs, 1.0);
        assert!(deviation > 0.005 && deviation < 0.02, "{deviation}");
    }

    #[test]
    fn values_that_may_be_zero_have_no_relative_deviation() {
        let zero = RoundSamples {
            values: vec![0.0; 5],
            ..RoundSamples::default()
        };
        let unit = Unit::Nanoseconds;
        let rounds = vec![zero; 6];
        let selected = select(&rounds, Conversion::new(unit, None));
        assert_eq!(BetweenRuns::of(&selected, unit, &[]), None);
        assert_eq!(Level::of(&rounds, unit), None);
    }
}
