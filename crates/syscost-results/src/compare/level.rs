//! The level of each side, as logarithms, and how well their difference is known.

use syscost_stats::level::Level;
use syscost_stats::student::{deviation, mean};
use syscost_stats::{interval, normal};

use super::drift;
use super::pool::Pooled;
use crate::Estimate;
use crate::estimate::between;

/// One side's level, of its processes or, without samples, of its runs' intervals.
pub(super) struct SideLevel {
    /// The logarithms of the process medians by run; none without samples.
    pub(super) processes: Vec<Vec<f64>>,
    /// The level of each run.
    runs: Vec<f64>,
    /// The level of the side, as certain as its processes show it.
    level: Level,
}

/// How much runs differ when nothing changed: the standard deviation of a run's level, and its
/// degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BetweenRuns {
    deviation: f64,
    freedom: f64,
}

impl SideLevel {
    /// The levels of two sides; `None` if a median is not positive, or a run has neither samples nor
    /// an interval. Either both have processes or none.
    pub(super) fn of_both(base: &Pooled<'_>, new: &Pooled<'_>) -> Option<[Self; 2]> {
        match (base.process_medians(), new.process_medians()) {
            (Some(base), Some(new)) => Some([Self::of_processes(base)?, Self::of_processes(new)?]),
            _ => Some([
                Self::of_intervals(&base.estimates)?,
                Self::of_intervals(&new.estimates)?,
            ]),
        }
    }

    fn of_processes(medians: Vec<Vec<f64>>) -> Option<Self> {
        let logarithm = |median: &f64| (*median > 0.0).then(|| median.ln());
        let logarithms = |run: &Vec<f64>| run.iter().map(logarithm).collect();
        let processes: Vec<Vec<f64>> = medians.iter().map(logarithms).collect::<Option<_>>()?;
        let runs = processes
            .iter()
            .filter_map(|run| Some(Level::of(run)?.mean));
        Some(Self {
            runs: runs.collect(),
            level: Level::of(&processes.concat())?,
            processes,
        })
    }

    /// From the intervals of the runs' medians, assumed log-normal.
    fn of_intervals(estimates: &[&Estimate]) -> Option<Self> {
        let medians = estimates
            .iter()
            .map(|one| one.median.filter(|one| *one > 0.0));
        let runs = medians
            .map(|one| one.map(f64::ln))
            .collect::<Option<Vec<f64>>>()?;
        let errors = estimates
            .iter()
            .map(|one| error_of(one))
            .collect::<Option<Vec<f64>>>()?;
        let squares: f64 = errors.iter().map(|error| error * error).sum();
        let rounds: u32 = estimates.iter().map(|one| one.rounds).sum();
        Some(Self {
            processes: Vec::new(),
            level: Level {
                mean: mean(&runs),
                error: squares.sqrt() / runs.len() as f64,
                freedom: f64::from(rounds.saturating_sub(1).max(1)),
            },
            runs,
        })
    }

    /// The factor by which the errors of both sides exceed those of independent processes.
    pub(super) fn stretch(sides: &[Self; 2]) -> f64 {
        drift::stretch(sides.each_ref().map(|side| &side.processes[..]))
    }

    /// The difference of two sides: each one's error is from the spread of its processes, `stretch`
    /// times as large as that of independent ones, or from that of runs, whichever is larger.
    pub(super) fn difference(
        [base, new]: &[Self; 2],
        stretch: f64,
        runs: Option<BetweenRuns>,
    ) -> Level {
        let level = |side: &Self| {
            let by_processes = Level {
                error: stretch * side.level.error,
                freedom: (side.level.freedom / stretch.powi(2)).max(1.0),
                ..side.level
            };
            let by_runs = runs.map(|runs| Level {
                error: runs.deviation / (side.runs.len() as f64).sqrt(),
                freedom: runs.freedom,
                ..side.level
            });
            by_runs
                .filter(|by_runs| by_runs.error > by_processes.error)
                .map_or((by_processes, false), |by_runs| (by_runs, true))
        };
        let [(base, by_runs), (new, are_both)] = [level(base), level(new)];
        let found = new.minus(base);
        match (runs, by_runs && are_both) {
            // How runs differ is known for both sides at once.
            (Some(runs), true) => Level {
                freedom: runs.freedom,
                ..found
            },
            _ => found,
        }
    }
}

impl BetweenRuns {
    /// From all that shows it: the runs of each side, those of the base together with further runs
    /// in its state, and earlier runs of the machine that neither side has.
    pub(super) fn of(sides: &[SideLevel; 2], pooled: &[Pooled<'_>; 3]) -> Option<Self> {
        let [base, new] = sides;
        let further = SideLevel::of_both(&pooled[2], &pooled[2]).map(|[further, _]| further.runs);
        let base_runs = [base.runs.clone(), further.unwrap_or_default()].concat();
        let free = |runs: &[f64]| runs.len().saturating_sub(1) as f64;
        let earlier = pooled[..2]
            .iter()
            .filter_map(|side| between::seen(&side.earlier));
        let earlier = earlier.max_by(|one, other| one.freedom.total_cmp(&other.freedom));
        let processes = || sides.iter().flat_map(|side| &side.processes);
        let believed = processes().map(|run| between::believed(run).powi(2));
        let believed = mean(&believed.collect::<Vec<_>>()).sqrt();
        let earlier = earlier.map(|seen| match processes().next() {
            Some(_) => between::beside_belief(believed, Some(seen)),
            None => seen,
        });
        // They differ by that in addition to what their processes explain.
        let of_run = |side: &SideLevel| side.level.error.powi(2) * side.runs.len() as f64;
        let within = mean(&sides.each_ref().map(of_run)).sqrt();
        let earlier = earlier.map_or((0.0, 0.0), |seen| {
            (seen.deviation.hypot(within), seen.freedom)
        });
        let parts = [
            (deviation(&base_runs), free(&base_runs)),
            (deviation(&new.runs), free(&new.runs)),
            earlier,
        ];
        let freedom: f64 = parts.iter().map(|(_, freedom)| freedom).sum();
        let squares: f64 = parts.iter().map(|(one, free)| one.powi(2) * free).sum();
        (freedom > 0.0).then(|| Self {
            deviation: (squares / freedom).sqrt(),
            freedom,
        })
    }
}

/// The standard error of the logarithm of a run's median, from its interval; `None` without a
/// positive one.
fn error_of(run: &Estimate) -> Option<f64> {
    let (low, high) = (run.ci95_low?, run.ci95_high?);
    let coverage = run
        .coverage
        .unwrap_or(interval::CONFIDENCE)
        .clamp(0.5, 0.999);
    let reach = 2.0 * normal::quantile((1.0 + coverage) / 2.0);
    (low > 0.0).then(|| (high / low).ln() / reach)
}
