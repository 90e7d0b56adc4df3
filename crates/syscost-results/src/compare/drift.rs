//! Rows that drift within their run: each process resembles the previous one, so a large number
//! of them carry no more information than a few independent ones.
//!
//! Intervals and p-values assume independent processes. If a row's cost wanders slowly, the
//! processes of a run agree better with each other than with those of any other run, and two single
//! runs look like a change.

use syscost_stats::series::autocorrelation;
use syscost_stats::{normal, student::deviation};

use crate::estimate::selection::MIN_ROUNDS;

/// Chance that independent processes of both sides are taken for dependent ones.
const CHANCE: f64 = 0.05;
/// Maximum dependence that so few processes can show credibly; the factor is then 6.2.
const MAX_DEPENDENCE: f64 = 0.95;

/// Logarithms that differ by less count as equal.
const ROUNDING: f64 = 1e-9;

/// The factor by which the standard errors of these sides' means (logarithms of process medians, by
/// run, in the order of their rounds) exceed those for independent processes: the largest over all
/// runs, and 1 if none shows dependence.
///
/// After Bayley and Hammersley (1946), for a first-order autoregressive series, with the lag-1
/// correlation corrected for its bias of 1/n.
pub(super) fn stretch(sides: [&[Vec<f64>]; 2]) -> f64 {
    // Equal values differ only by rounding errors, which are correlated.
    let is_enough = |run: &&Vec<f64>| run.len() >= MIN_ROUNDS && deviation(run) > ROUNDING;
    let runs: Vec<&Vec<f64>> = sides.into_iter().flatten().filter(is_enough).collect();
    // The more runs, the more likely one of them looks dependent by chance.
    let chance = CHANCE / runs.len().max(1) as f64;
    let of_runs = runs.iter().filter_map(|run| of_run(run, chance));
    of_runs.fold(1.0, f64::max)
}

fn of_run(processes: &[f64], chance: f64) -> Option<f64> {
    let count = processes.len() as f64;
    let found = autocorrelation(processes)?;
    let dependence = found + 1.0 / count;
    let is_chance = dependence <= normal::quantile(1.0 - chance) / count.sqrt();
    let dependence = dependence.min(MAX_DEPENDENCE);
    (!is_chance).then(|| ((1.0 + dependence) / (1.0 - dependence)).sqrt())
}

/// A note on a row whose error is larger by this factor.
pub(super) fn note(stretch: f64) -> Option<String> {
    (stretch > 1.0).then(|| {
        format!(
            "it drifts: each round resembles the one before, so its interval is {stretch:.1} times as wide as that of independent rounds"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Change, MIN_MARGIN, compare};
    use super::*;
    use crate::fixture::{normal, row, run};

    /// Processes that wander by 3 %, each keeping the share `kept` of the previous one's deviation.
    fn wandering(processes: usize, kept: f64, rng: &mut fastrand::Rng) -> Vec<Vec<f64>> {
        let mut place = normal(rng);
        let mut next = || {
            place = kept * place + (1.0 - kept * kept).sqrt() * normal(rng);
            100.0 * (0.03 * place + 0.004 * normal(rng)).exp()
        };
        (0..processes).map(|_| vec![next(); 5]).collect()
    }

    /// How many of 400 rows are called changed although nothing changed.
    fn changed(processes: usize, kept: f64) -> usize {
        let mut rng = fastrand::Rng::with_seed(7);
        let mut side = |id| {
            let rows =
                (0..400).map(|n| row(&format!("x.r{n:03}"), wandering(processes, kept, &mut rng)));
            run(id, rows.collect())
        };
        let compared = compare(&[&side("a")], &[&side("b")], &[]);
        compared.count(Change::Worse) + compared.count(Change::Better)
    }

    #[test]
    fn rows_that_drift_are_rarely_called_changed() {
        let mut found = Vec::new();
        for processes in [12, 25, 51] {
            found.push([0.0, 0.5, 0.8, 0.95].map(|kept| changed(processes, kept)));
        }
        println!("of 400 rows of 12, 25, 51 processes: {found:?}");
        // Without the correction: 58, 47 and 38 of the rows that keep 0.8.
        for [independent, half, strong, _] in found {
            assert!(independent <= 2 && half <= 12 && strong <= 25);
        }
    }

    #[test]
    fn independent_processes_are_seldom_taken_for_dependent_ones() {
        let mut rng = fastrand::Rng::with_seed(3);
        let mut is_stretched = |kept| {
            let logs: Vec<f64> = wandering(25, kept, &mut rng)
                .iter()
                .map(|process| process[0].ln())
                .collect();
            stretch([&[logs], &[]]) > 1.0
        };
        let found = (0..400).filter(|_| is_stretched(0.0)).count();
        assert!(found <= 32, "{found} of 400");
        let found = (0..400).filter(|_| is_stretched(0.8)).count();
        assert!(found >= 340, "{found} of 400");
    }

    #[test]
    fn a_row_that_drifts_says_so_and_is_known_less_well() {
        let level = |process: u32| vec![100.0 + f64::from(process / 6); 5];
        let steps = run("a", vec![row("x.y", (0..24).map(level).collect())]);
        // The same processes in an order without drift.
        let mixed = (0..24).map(|process| level(process * 7 % 24)).collect();
        let mixed = run("b", vec![row("x.y", mixed)]);
        let of = |run: &crate::Run| compare(&[run], &[run], &[]).rows.remove(0);
        let (drifting, mixed) = (of(&steps), of(&mixed));
        assert!(drifting.notes[0].starts_with("it drifts"), "{drifting:?}");
        assert_eq!(mixed.notes, [""; 0]);
        let width = |row: &super::super::Row| {
            row.ci95_high
                .zip(row.ci95_low)
                .map(|(high, low)| (high / low).ln())
        };
        assert!(width(&drifting) > width(&mixed).map(|width| 2.0 * width));
        assert!(drifting.margin > mixed.margin && mixed.margin == MIN_MARGIN);
    }
}
