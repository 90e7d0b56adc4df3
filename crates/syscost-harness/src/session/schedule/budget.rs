//! The time budget of a run: when it ends, and how much of each row fits.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::order::benchmarks;
use crate::profile::{EXPENSIVE_LOOKS, Effort};
use crate::session::ledger::Ledger;
use crate::session::row::RowState;

/// Maximum share of the budget for the set-up of one benchmark.
const EXPENSIVE_SHARE: f64 = 0.5;

/// Minimum factor by which samples and patience are scaled to fit a budget.
const MIN_SCALE: f64 = 0.2;

/// Time reserved from the budget for the last worker and the document.
const RESERVE: Duration = Duration::from_millis(300);

/// Minimum number of individually timed operations per process, however little time there is: over
/// six processes, as many as p99 needs.
const MIN_SINGLES: u32 = 50;

/// Maximum number of rounds to plan for, as a multiple of the minimum.
const MAX_PLANNED: f64 = 1.5;

/// By how much the profile's effort is reduced so that the minimum number of rounds fits into the
/// budget.
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

    /// The pace of the next rounds where the runs stand like this.
    pub(super) fn after(self, standing: &Standing<'_>) -> Self {
        let to_go = standing.rounds_needed().saturating_sub(standing.rounds);
        let takes_s = standing.active().map(RowState::likely_takes_s);
        let [work_s, waited_s] =
            takes_s.fold([0.0; 2], |all, row| [all[0] + row[0], all[1] + row[1]]);
        self.next(to_go, standing.left_for_cases_s(to_go), work_s, waited_s)
    }

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
    /// The effort reduced to this pace.
    pub(super) fn scaled(self, effort: &Effort) -> Effort {
        let fewer = |count: u32| (f64::from(count) * self.samples).ceil() as u32;
        Effort {
            samples: fewer(effort.samples),
            case_ns: effort.case_ns * self.samples,
            patience_ns: effort.patience_ns * self.patience,
            singles: fewer(effort.singles).max(MIN_SINGLES.min(effort.singles)),
            ..effort.clone()
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(in crate::session) struct Budget {
    /// When it began or was resumed: it then gets the whole budget again.
    pub(in crate::session) begun: Instant,
    /// How long it took before it was resumed.
    pub(in crate::session) earlier: Duration,
    /// What was given, in seconds.
    pub(in crate::session) total_s: f64,
    /// How long it may still wait in addition, while no core is ours, and how long it has.
    pub(in crate::session) patience: Duration,
    pub(in crate::session) waited: Duration,
}

impl Budget {
    /// The time by which the last worker must have ended.
    pub(in crate::session) fn deadline(&self) -> Instant {
        let total = Duration::from_secs_f64(self.total_s) + self.waited;
        self.begun + total.saturating_sub(RESERVE)
    }

    pub(in crate::session) fn is_spent(&self, now: Instant) -> bool {
        now >= self.deadline()
    }

    /// Notes that it waited this long for a core of its own, as it may in addition.
    pub(in crate::session) fn note_waited(&mut self, time: Duration) {
        let extra = time.min(self.patience);
        self.patience -= extra;
        self.waited += extra;
    }

    /// How long the run took so far.
    pub(in crate::session) fn elapsed(&self, now: Instant) -> Duration {
        self.earlier + (now - self.begun)
    }

    pub(super) fn left_s(&self, now: Instant) -> f64 {
        let left = self.deadline().saturating_duration_since(now);
        left.as_secs_f64()
    }

    /// How long the run will likely go on of which this share is done.
    pub(super) fn likely_left(&self, done: f64, now: Instant) -> Duration {
        let elapsed = (now - self.begun).as_secs_f64();
        let by_pace = if done > 0.0 {
            elapsed / done - elapsed
        } else {
            f64::INFINITY
        };
        let by_budget = self.total_s + self.waited.as_secs_f64() - elapsed;
        Duration::from_secs_f64(by_pace.min(by_budget).max(0.0))
    }
}

/// Where runs stand that are measured in turn: all that decides what they leave out, and how long
/// their next round may take.
#[derive(Clone, Copy)]
pub(in crate::session) struct Standing<'l> {
    /// What they measured.
    pub(super) ledgers: &'l [Ledger],
    /// The rounds that are over.
    pub(super) rounds: u32,
    /// The minimum number of rounds.
    pub(super) min_rounds: u32,
    /// Their common budget and what is left of it, in seconds.
    pub(super) budget_s: f64,
    pub(super) left_s: f64,
}

impl<'l> Standing<'l> {
    /// The rows that need more rounds.
    pub(super) fn active(&self) -> impl Iterator<Item = &'l RowState> {
        let rows = self.ledgers.iter().flat_map(|ledger| &ledger.rows);
        rows.filter(|row| row.is_active())
    }

    /// A row of each run, by its index.
    pub(super) fn each(&self, index: usize) -> impl Iterator<Item = &'l RowState> {
        self.ledgers.iter().map(move |ledger| &ledger.rows[index])
    }

    /// The rows that none of the runs has settled or left out, by index.
    pub(super) fn active_in_all(&self) -> impl Iterator<Item = usize> {
        let rows = self.ledgers.first().map_or(0, |ledger| ledger.rows.len());
        (0..rows).filter(|index| self.each(*index).all(RowState::is_active))
    }

    /// The time left for the cases of this many rounds, in seconds: without the overhead of their
    /// workers.
    pub(super) fn left_for_cases_s(&self, to_go: u32) -> f64 {
        let beside_s = |ledger: &Ledger| {
            let benchmarks = benchmarks(std::slice::from_ref(ledger), RowState::is_active);
            ledger.worker_s() * benchmarks.len() as f64
        };
        let beside_s: f64 = self.ledgers.iter().map(beside_s).sum();
        (self.left_s - f64::from(to_go) * beside_s).max(0.0)
    }

    /// The sum of [`RowState::counting`] over the active rows.
    pub(super) fn counting(&self) -> (usize, usize) {
        let rows = self.active().map(RowState::counting);
        rows.fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1))
    }

    /// The number of rounds after which most active rows will have the required number of counting
    /// ones, judged by those measured so far: a round counts in which the core was ours often
    /// enough.
    pub(super) fn rounds_needed(&self) -> u32 {
        let (counting, all) = self.counting();
        needed(self.min_rounds, counting, all)
    }
}

/// The most expensive rows of benchmarks too expensive for a run with this share of the budget, by
/// index, and why they are left out.
pub(in crate::session) fn too_expensive(
    rows: &[RowState],
    budget_s: f64,
    share: f64,
) -> Vec<(usize, String)> {
    let mut together: BTreeMap<&str, Vec<(usize, f64)>> = BTreeMap::new();
    for (index, row) in rows.iter().enumerate() {
        let rows = together.entry(row.row.benchmark.id).or_default();
        rows.push((index, row.row.setup().seconds()));
    }
    let of_one = |rows| too_expensive_of(rows, budget_s, share);
    together.into_values().flat_map(of_one).collect()
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
    rows.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let why_without = |out: usize| {
        let seconds = rows[out..].iter().map(|(_, seconds)| seconds).sum();
        why_too_expensive(seconds, budget_s, share)
    };
    let fits = |out: &usize| why_without(*out).is_none();
    let out = (0..rows.len()).find(fits).unwrap_or(rows.len());
    let out = rows[..out].iter();
    out.filter_map(|(index, _)| Some((*index, why_without(0)?)))
        .collect()
}

/// Why a benchmark is too expensive whose rows' set-up takes this long in total, where a run has
/// this share of the budget; `None` if it is not.
fn why_too_expensive(seconds: f64, budget_s: f64, share: f64) -> Option<String> {
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
pub(super) fn option(seconds: f64) -> String {
    let step = if seconds > 100.0 { 10.0 } else { 1.0 };
    format!("--budget {:.0}", (seconds / step).ceil() * step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    #[test]
    fn a_set_up_that_eats_the_budget_is_skipped_with_advice() {
        assert_eq!(
            why_too_expensive(2.0, 24.0, 1.0),
            None,
            "six rounds of 2 s fit into half of 24 s"
        );
        let reason = why_too_expensive(2.0, 23.0, 1.0).expect("they do not fit into half of 23 s");
        assert!(
            reason.contains("about 2.0 s in each of 6 rounds"),
            "{reason}"
        );
        assert!(reason.ends_with("at least --budget 24"), "{reason}");
        let of_a_pair = why_too_expensive(2.0, 24.0, 0.5).expect("a side has half of the budget");
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
        assert_eq!(short.scaled(&Profile::Quick.effort()).samples, 8);
    }

    #[test]
    fn a_resumed_run_has_the_whole_budget_again() {
        let budget = Budget {
            begun: Instant::now(),
            earlier: Duration::from_secs(60),
            total_s: 10.0,
            patience: Duration::from_secs(3),
            waited: Duration::ZERO,
        };
        let at = |seconds| budget.begun + Duration::from_secs_f64(seconds);
        assert_eq!([9.6, 9.8].map(|s| budget.is_spent(at(s))), [false, true]);
        assert_eq!(budget.elapsed(at(5.0)), Duration::from_secs(65));
        assert_eq!(
            (budget.left_s(at(4.7)), budget.left_s(at(20.0))),
            (5.0, 0.0)
        );
        let left = |done| budget.likely_left(done, at(4.0)).as_secs_f64();
        assert_eq!([0.0, 0.2, 0.8].map(left), [6.0, 6.0, 1.0]);
    }
}
