//! The level of each side, as logarithms, and how well their difference is known.

use super::drift;
use super::pool::Pooled;
use crate::Estimate;
use crate::estimate::selection::MIN_ROUNDS;
use crate::stats::student::{deviation, mean};
use crate::stats::{interval, normal, student};

/// Minimum number of processes per side for an exact interval.
pub(super) const MIN_EXACT: usize = MIN_ROUNDS;

/// One side's level, of its processes or, without samples, of its runs' intervals.
pub(super) struct Level {
    /// The logarithms of the process medians by run; none without samples.
    pub(super) processes: Vec<Vec<f64>>,
    runs: Vec<f64>,
    /// The level of the side.
    mean: f64,
    /// Its standard error as far as processes show it, and its degrees of freedom.
    by_processes: (f64, f64),
}

/// How much runs differ when nothing changed: the standard deviation of a run's level, and its
/// degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BetweenRuns {
    deviation: f64,
    freedom: f64,
}

/// The difference of two levels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Difference {
    /// New by base, as a logarithm.
    pub(super) distance: f64,
    pub(super) error: f64,
    /// Degrees of freedom of that error.
    pub(super) freedom: u32,
    /// Whether runs differ by more than their processes explain.
    pub(super) is_of_runs: bool,
}

impl Level {
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
        let all = processes.concat();
        let error = deviation(&all) / (all.len() as f64).sqrt();
        Some(Self {
            runs: processes.iter().map(|run| mean(run)).collect(),
            mean: mean(&all),
            by_processes: (error, all.len().saturating_sub(1).max(1) as f64),
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
            mean: mean(&runs),
            by_processes: (
                squares.sqrt() / runs.len() as f64,
                f64::from(rounds.saturating_sub(1).max(1)),
            ),
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
    ) -> Difference {
        let error = |side: &Self| {
            let (error, freedom) = side.by_processes;
            let by_processes = (stretch * error, freedom, false);
            let by_runs = runs.map(|runs| {
                let error = runs.deviation / (side.runs.len() as f64).sqrt();
                (error, runs.freedom, true)
            });
            match by_runs.filter(|by_runs| by_runs.0 > by_processes.0) {
                Some(by_runs) => by_runs,
                None => by_processes,
            }
        };
        let sides = [error(base), error(new)];
        let squares = sides.map(|(error, ..)| error.powi(2));
        let sum: f64 = squares.iter().sum();
        let freedoms = sides.map(|(_, freedom, _)| freedom);
        // If only processes differ, the errors of both sides are alike, and Welch's (1947)
        // correction would needlessly cost power; but a side of a few runs has far fewer degrees of
        // freedom than the other may have. How runs differ is known for both sides at once.
        let is_few = freedoms[0].min(freedoms[1]) < (MIN_EXACT - 1) as f64;
        let parts = squares[0].powi(2) / freedoms[0] + squares[1].powi(2) / freedoms[1];
        let freedom = match sides.map(|(.., is_of_runs)| is_of_runs) {
            [true, true] => freedoms[0],
            [false, false] if !is_few || parts <= 0.0 => freedoms[0] + freedoms[1],
            _ => (sum.powi(2) / parts).floor().clamp(1.0, 1e6),
        };
        Difference {
            distance: new.mean - base.mean,
            error: sum.sqrt(),
            freedom: freedom.max(1.0) as u32,
            is_of_runs: sides.iter().any(|(.., is_of_runs)| *is_of_runs),
        }
    }
}

impl BetweenRuns {
    /// From all that shows it: the runs of each side, those of the base together with further runs
    /// in its state, and what the documents know of the machine's earlier runs.
    pub(super) fn of(levels: &[Level; 2], sides: &[Pooled<'_>; 3]) -> Option<Self> {
        let [base, new] = levels;
        let further = Level::of_both(&sides[2], &sides[2]).map(|[further, _]| further.runs);
        let base = [base.runs.clone(), further.unwrap_or_default()].concat();
        let free = |runs: &[f64]| runs.len().saturating_sub(1) as f64;
        let kept = sides[..2].iter().flat_map(|side| &side.rows);
        let kept = kept
            .filter_map(|row| row.between_runs)
            .max_by_key(|kept| kept.runs);
        // Kept runs differ by that in addition to what their processes explain.
        let of_run = |side: &Level| side.by_processes.0.powi(2) * side.runs.len() as f64;
        let within = mean(&levels.each_ref().map(of_run)).sqrt();
        let kept = kept.map_or((0.0, 0.0), |kept| {
            let freedom = f64::from(kept.runs.saturating_sub(1));
            (kept.deviation.hypot(within), freedom)
        });
        let parts = [
            (deviation(&base), free(&base)),
            (deviation(&new.runs), free(&new.runs)),
            kept,
        ];
        let freedom: f64 = parts.iter().map(|(_, freedom)| freedom).sum();
        let squares: f64 = parts.iter().map(|(one, free)| one.powi(2) * free).sum();
        (freedom > 0.0).then(|| Self {
            deviation: (squares / freedom).sqrt(),
            freedom,
        })
    }
}

impl Difference {
    /// The difference of rounds measured in turn, from the logarithms of their ratios.
    pub(super) fn of_rounds(ratios: &[f64]) -> Self {
        Self {
            distance: mean(ratios),
            error: deviation(ratios) / (ratios.len() as f64).sqrt(),
            freedom: ratios.len().saturating_sub(1).max(1) as u32,
            is_of_runs: false,
        }
    }

    /// With a further, independent error.
    pub(super) fn beside(self, error: f64) -> Self {
        Self {
            error: self.error.hypot(error),
            ..self
        }
    }

    /// Half the width of its 95 % interval.
    pub(super) fn reach(self) -> f64 {
        student::quantile_two_sided(1.0 - interval::CONFIDENCE, self.freedom) * self.error
    }

    /// Chance of so large a difference if there were none.
    pub(super) fn p_value(self) -> f64 {
        if self.distance == 0.0 {
            return 1.0;
        }
        student::two_sided(self.distance / self.error, self.freedom)
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
