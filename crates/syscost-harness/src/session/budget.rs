//! The time budget of a run: when it ends, and how much of each row fits.
//! [`mod@shed`]: what is left out. [`reach`]: what continues.

mod drop_rows;
mod reach;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use syscost_results::stats::order::median;

use super::Session;
use super::plan::{EXPENSIVE_LOOKS, benchmarks};
use super::rows::RowState;
use crate::bencher::Effort;

pub(super) use drop_rows::{bring_back, drop_rows};
pub(super) use reach::postpone;

/// Maximum share of the budget for the set-up of one benchmark.
const EXPENSIVE_SHARE: f64 = 0.5;

/// Minimum factor by which samples and patience are scaled to fit a budget.
const MIN_SCALE: f64 = 0.2;

/// Time reserved from the budget for the last worker and the document.
const RESERVE: Duration = Duration::from_millis(300);

/// Minimum number of individually timed operations per process, however little time there is: over
/// six processes, as many as p99 needs.
const MIN_SINGLES: u32 = 50;

/// Rows are deferred only where at least this share of the rounds counts.
const OFTEN_OURS: f64 = 0.25;

/// Maximum number of rounds to plan for, as a multiple of the minimum.
const MAX_PLANNED: f64 = 1.5;

/// The share of a run's time that a row takes, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Takes {
    /// Time of its evidence pass.
    pub(crate) evidence_s: f64,
    /// Time of its last timed pass, without waiting for an undisturbed core; 0 if there was none yet.
    pub(crate) work_s: f64,
    /// Time of its longest pass so far: cases reuse memory, and the one that comes first pays for it.
    pub(crate) longest_s: f64,
    /// Time spent waiting.
    pub(crate) waited_s: f64,
}

impl Takes {
    /// All times multiplied by this share.
    pub(crate) fn times(self, share: f64) -> Self {
        Self {
            evidence_s: share * self.evidence_s,
            work_s: share * self.work_s,
            longest_s: share * self.longest_s,
            waited_s: share * self.waited_s,
        }
    }

    /// The sum of both.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            evidence_s: self.evidence_s + other.evidence_s,
            work_s: self.work_s + other.work_s,
            longest_s: self.longest_s + other.longest_s,
            waited_s: self.waited_s + other.waited_s,
        }
    }
}

/// By how much the profile's effort is reduced so that the minimum number of rounds fits into the budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pace {
    /// Factor of the number of samples.
    samples: f64,
    /// Factor of the time that a case may wait for an undisturbed core.
    patience: f64,
}

impl Pace {
    /// The unreduced effort.
    pub(super) const FULL: Self = Self {
        samples: 1.0,
        patience: 1.0,
    };

    /// The pace at which `to_go` more rounds fit into the time left, judged by how long work and
    /// waiting took in the last one. Waiting gets what work leaves: a number from a shared core is
    /// better than none.
    fn next(self, to_go: u32, left_s: f64, work_s: f64, waited_s: f64) -> Self {
        if to_go == 0 {
            return Self::FULL;
        }
        let share_s = left_s / f64::from(to_go);
        let scaled = |now: f64, share_s: f64, took_s: f64| match took_s > 0.0 {
            true => (now * share_s / took_s).clamp(MIN_SCALE, 1.0),
            false => 1.0,
        };
        let samples = scaled(self.samples, share_s, work_s);
        let work_s = work_s * samples / self.samples;
        Self {
            samples,
            patience: scaled(self.patience, (share_s - work_s).max(0.0), waited_s),
        }
    }
}

impl Session<'_> {
    /// Whether the budget is used up; a resumed run gets the whole budget again.
    pub(super) fn is_spent(&self) -> bool {
        Instant::now() >= self.deadline()
    }

    /// The time by which the last worker must have ended.
    pub(super) fn deadline(&self) -> Instant {
        self.begun + self.budget().saturating_sub(RESERVE)
    }

    fn budget(&self) -> Duration {
        Duration::from_secs_f64(self.header.config.budget_s)
    }

    /// The pace of the next rounds after `rounds` of this run, or of both runs of a pair.
    pub(super) fn pace(&self, pace: Pace, rounds: u32, sides: &[&Session<'_>]) -> Pace {
        let to_go = rounds_needed(self.header.config.min_rounds, sides).saturating_sub(rounds);
        let states = sides.iter().flat_map(|side| &side.states);
        let active: Vec<Takes> = states
            .filter(|state| state.is_active())
            .map(RowState::likely_takes)
            .collect();
        let work_s = active.iter().map(|takes| takes.work_s).sum();
        let waited_s = active.iter().map(|takes| takes.waited_s).sum();
        pace.next(to_go, self.left_for_cases_s(to_go, sides), work_s, waited_s)
    }

    /// The time left for the cases of this many rounds of these runs, in seconds: without the
    /// overhead of their workers.
    fn left_for_cases_s(&self, to_go: u32, sides: &[&Session<'_>]) -> f64 {
        let left = self.deadline().saturating_duration_since(Instant::now());
        let beside_s = |side: &&Session<'_>| {
            side.worker_s() * benchmarks(&[*side], RowState::is_active).len() as f64
        };
        let beside_s: f64 = sides.iter().map(beside_s).sum();
        (left.as_secs_f64() - f64::from(to_go) * beside_s).max(0.0)
    }

    /// Overhead of a worker besides its cases, in seconds.
    fn worker_s(&self) -> f64 {
        median(&self.beside_s).unwrap_or(0.0)
    }

    pub(super) fn time_left(&self, done: f64) -> Duration {
        let elapsed = self.begun.elapsed().as_secs_f64();
        let by_pace = if done > 0.0 {
            elapsed / done - elapsed
        } else {
            f64::INFINITY
        };
        let by_budget = self.header.config.budget_s - elapsed;
        Duration::from_secs_f64(by_pace.min(by_budget).max(0.0))
    }

    /// Whether it is worthwhile to defer a row while no core is ours. In a pair both sides have all rounds,
    /// since these are compared.
    pub(super) fn cores_are_often_exclusive(&self) -> bool {
        let active = self.states.iter().filter(|state| state.is_active());
        let (counting, all) = counting_of(active);
        !self.is_of_pair && all > 0 && counting as f64 >= OFTEN_OURS * all as f64
    }

    /// Skips the most expensive rows of benchmarks too expensive for this run's share of the budget.
    pub(super) fn skip_what_cannot_fit(&mut self, share: f64) {
        let budget_s = self.header.config.budget_s;
        let mut together: BTreeMap<&str, Vec<(usize, f64)>> = BTreeMap::new();
        for (index, state) in self.states.iter().enumerate() {
            let rows = together.entry(state.row.benchmark.id).or_default();
            rows.push((index, state.row.setup().seconds()));
        }
        for rows in together.into_values() {
            for (index, reason) in too_expensive_of(rows, budget_s, share) {
                self.states[index].skipped = Some(reason);
            }
        }
    }
}

/// The rows that none of these runs has settled or left out.
fn active_in_all(sides: &[&mut Session<'_>]) -> Vec<usize> {
    let rows = sides.first().map_or(0, |side| side.states.len());
    let is_active = |index: &usize| sides.iter().all(|side| side.states[*index].is_active());
    (0..rows).filter(is_active).collect()
}

/// The sum of [`RowState::counting`] over these rows.
fn counting_of<'a>(states: impl Iterator<Item = &'a RowState>) -> (usize, usize) {
    states
        .map(RowState::counting)
        .fold((0, 0), |(counting, all), row| {
            (counting + row.0, all + row.1)
        })
}

/// The number of rounds after which most active rows will have the required number of counting
/// ones, judged by those measured so far: a round counts in which the core was ours often enough.
fn rounds_needed(min_rounds: u32, sides: &[&Session<'_>]) -> u32 {
    let states = sides.iter().flat_map(|side| &side.states);
    let active = states.filter(|state| state.is_active());
    let (counting, all) = counting_of(active);
    needed(min_rounds, counting, all)
}

/// The number of rounds that contain the required number of counting ones, if `counting` of `all`
/// count. Where fewer than two in three count, waiting longer in each is more useful, and no
/// further ones are planned.
fn needed(min_rounds: u32, counting: usize, all: usize) -> u32 {
    let share = match all {
        0 => 1.0,
        _ => counting as f64 / all as f64,
    };
    let rounds = (f64::from(min_rounds) / share).ceil();
    match rounds <= MAX_PLANNED * f64::from(min_rounds) {
        true => rounds as u32,
        false => min_rounds,
    }
}

/// The rows of a benchmark to skip so that the set-up of the others fits, the most expensive first,
/// and why; of each its index and its own seconds are given, and the share of the budget.
fn too_expensive_of(
    mut rows: Vec<(usize, f64)>,
    budget_s: f64,
    share: f64,
) -> Vec<(usize, String)> {
    let seconds = |rows: &[(usize, f64)]| rows.iter().map(|(_, seconds)| seconds).sum();
    let is_too_much =
        |rows: &[(usize, f64)]| too_expensive(seconds(rows), budget_s, share).is_some();
    rows.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let Some(reason) = too_expensive(seconds(&rows), budget_s, share) else {
        return Vec::new();
    };
    let out = (0..rows.len()).find(|out| !is_too_much(&rows[*out..]));
    let out = &rows[..out.unwrap_or(rows.len())];
    out.iter()
        .map(|(index, _)| (*index, reason.clone()))
        .collect()
}

/// Why a benchmark is too expensive whose rows' set-up takes this long in total, where a run has
/// this share of the budget; `None` if it is not.
fn too_expensive(seconds: f64, budget_s: f64, share: f64) -> Option<String> {
    let rounds = EXPENSIVE_LOOKS[0];
    let needed_s = seconds * f64::from(rounds) / (share * EXPENSIVE_SHARE);
    (needed_s > budget_s).then(|| {
        format!(
            "the set-up of its benchmark's rows takes about {seconds:.1} s in each of {rounds} \
             rounds, more than half of what the budget of {budget_s:.0} s gives; give at least {}",
            option(needed_s)
        )
    })
}

/// The option that gives at least this budget, in whole seconds, or tens from a hundred on.
fn option(seconds: f64) -> String {
    let step = if seconds > 100.0 { 10.0 } else { 1.0 };
    format!("--budget {:.0}", (seconds / step).ceil() * step)
}

/// The effort reduced to this pace.
pub(super) fn scaled(effort: &Effort, pace: Pace) -> Effort {
    let fewer = |count: u32| (f64::from(count) * pace.samples).ceil() as u32;
    Effort {
        samples: fewer(effort.samples),
        case_ns: effort.case_ns * pace.samples,
        patience_ns: effort.patience_ns * pace.patience,
        singles: fewer(effort.singles).max(MIN_SINGLES.min(effort.singles)),
        ..effort.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Profile;

    #[test]
    fn a_set_up_that_eats_the_budget_is_skipped_with_advice() {
        assert_eq!(
            too_expensive(2.0, 24.0, 1.0),
            None,
            "six rounds of 2 s fit into half of 24 s"
        );
        let reason = too_expensive(2.0, 23.0, 1.0).expect("they do not fit into half of 23 s");
        assert!(
            reason.contains("about 2.0 s in each of 6 rounds"),
            "{reason}"
        );
        assert!(reason.ends_with("at least --budget 24"), "{reason}");
        let of_a_pair = too_expensive(2.0, 24.0, 0.5).expect("a side has half of the budget");
        assert!(of_a_pair.ends_with("at least --budget 48"), "{of_a_pair}");
    }

    #[test]
    fn a_budget_is_rounded_up() {
        assert_eq!(option(9.2), "--budget 10");
        assert_eq!(option(100.0), "--budget 100");
        assert_eq!(option(101.0), "--budget 110");
    }

    #[test]
    fn only_the_most_expensive_rows_make_way_for_the_others() {
        let skipped = |budget_s| {
            let rows = vec![(3, 0.0), (4, 0.1), (5, 1.0), (6, 0.2)];
            let out = too_expensive_of(rows, budget_s, 1.0);
            assert!(out.iter().all(|(_, reason)| reason.contains("about 1.3 s")));
            out.iter().map(|(index, _)| *index).collect::<Vec<_>>()
        };
        assert_eq!(skipped(16.0), [0; 0]);
        assert_eq!(skipped(15.0), [5]);
        assert_eq!(skipped(3.0), [5, 6]);
        assert_eq!(skipped(1.0), [5, 6, 4], "what needs no set-up remains");
    }

    #[test]
    fn rounds_that_do_not_count_are_made_up_for() {
        assert_eq!(needed(6, 0, 0), 6, "nothing is known");
        assert_eq!(needed(6, 300, 300), 6);
        assert_eq!(needed(6, 240, 300), 8);
        assert_eq!((needed(6, 200, 300), needed(6, 190, 300)), (9, 6));
        assert_eq!(needed(6, 0, 300), 6);
    }

    #[test]
    fn samples_shrink_to_fit_and_waiting_gets_what_is_left() {
        assert_eq!(Pace::FULL.next(5, 20.0, 1.0, 3.0), Pace::FULL);
        let scarce = Pace::FULL.next(5, 10.0, 1.0, 2.0);
        assert_eq!((scarce.samples, scarce.patience), (1.0, 0.5));
        let short = Pace::FULL.next(5, 2.5, 1.0, 2.0);
        assert_eq!((short.samples, short.patience), (0.5, MIN_SCALE));
        assert_eq!(short.next(4, 40.0, 0.5, 0.4), Pace::FULL, "and grow back");
        assert_eq!(
            short.next(0, 0.0, 0.5, 0.4),
            Pace::FULL,
            "the fewest are done"
        );
        assert_eq!(Pace::FULL.next(5, 1.0, 0.0, 0.0), Pace::FULL);
        assert_eq!(scaled(&Profile::Quick.effort(), short).samples, 8);
    }
}
