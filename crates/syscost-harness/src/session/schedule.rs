//! What is to be measured next: decided by the ledgers, the time and the seed alone. Several runs
//! that are measured in turn have one schedule, and a ledger each.

mod budget;
mod drop_rows;
mod order;
mod reach;

use std::time::Instant;

use syscost_params::Value;
use syscost_results::run::Config;
use syscost_sys::random;

use self::budget::Pace;
pub(super) use self::budget::{Budget, Standing, too_expensive};
pub(super) use self::drop_rows::{dropped, returning};
pub(super) use self::order::{order, tiered, tiers};
pub(super) use self::reach::resting;
use super::executor::Due;
use super::ledger::Ledger;
use super::request::Event;
use crate::benchmark::Entry;
use crate::catalogue::Row;
use crate::pass::Pass;
use crate::profile::{Effort, Profile};
use crate::worker::JobCase;

/// Rows are deferred only where at least this share of the rounds counts.
const OFTEN_EXCLUSIVE: f64 = 0.25;

/// How many rows one worker measures at most in the first round, where each is counted before it is timed:
/// a run whose budget ends there has numbers of those before.
const AT_ONCE: usize = 12;

pub(super) struct Schedule {
    pub(super) profile: Profile,
    pub(super) budget: Budget,
    seed: u64,
    min_rounds: u32,
    /// How many rounds there are at least and at most, if not the profile's.
    pub(super) rounds: Option<(u32, u32)>,
    /// How many runs it is for.
    runs: usize,
    pace: Pace,
    /// Whether rows may be deferred in this round.
    may_defer: bool,
}

impl Schedule {
    /// That of this many runs with this configuration and budget.
    pub(super) fn new(config: &Config, budget: Budget, runs: usize) -> Self {
        Self {
            profile: Profile::read(&config.profile).unwrap_or_default(),
            budget,
            seed: config.seed,
            min_rounds: config.min_rounds,
            rounds: None,
            runs,
            pace: Pace::FULL,
            may_defer: false,
        }
    }

    /// How many rounds there are at most.
    pub(super) fn max_rounds(&self) -> u32 {
        self.rounds
            .map_or(self.profile.max_rounds(), |(_, most)| most)
    }

    /// Whether rows may be settled after this many rounds.
    pub(super) fn may_settle(&self, rounds: u32) -> bool {
        self.rounds
            .is_none_or(|(least, most)| least < most && rounds >= least)
    }

    /// What a round takes of each case.
    fn effort(&self) -> Effort {
        let effort = self.profile.effort();
        match self.rounds {
            Some((least, most)) if least == most => Effort {
                case_ns: 0.0,
                ..effort
            },
            _ => effort,
        }
    }

    /// The source of a round's random choices.
    pub(super) fn random_of(&self, round: u32) -> fastrand::Rng {
        fastrand::Rng::with_seed(random::nth(self.seed, u64::from(round) + 1))
    }

    /// The event before a benchmark, when this share of its round is done.
    pub(super) fn working(
        &self,
        benchmark: &'static Entry,
        round: u32,
        share: f64,
        now: Instant,
    ) -> Event<'static> {
        let rounds = self.min_rounds.max(round + 1);
        let done = (f64::from(round) + share) / f64::from(rounds);
        Event::Working {
            benchmark: benchmark.id,
            round: round + 1,
            rounds,
            done,
            left: self.budget.likely_left(done, now),
        }
    }

    /// The rows of a benchmark, by index, that one worker after the other measures in a round.
    pub(super) fn parts(ledger: &Ledger, benchmark: &Entry, round: u32) -> Vec<Vec<usize>> {
        let all = ledger.rows.iter().enumerate();
        let of_it = all.filter(|(_, row)| row.row.benchmark.id == benchmark.id);
        let of_it: Vec<usize> = of_it.map(|(index, _)| index).collect();
        let most = if round == 0 { AT_ONCE } else { usize::MAX };
        of_it.chunks(most).map(<[usize]>::to_vec).collect()
    }

    /// What one run measures of these rows of a benchmark in one round. An evidence pass has cases in
    /// the first round, and where a count is doubtful; in these rounds what is timed is audited, too.
    /// `None` if nothing is due, for which as much is drawn from `random`.
    pub(super) fn due(
        &self,
        ledger: &Ledger,
        (benchmark, part): (&'static Entry, &[usize]),
        pass: Pass,
        round: u32,
        random: &mut fastrand::Rng,
    ) -> Option<Due> {
        let is_source = |row: &Row| {
            let mut others = ledger.rows.iter();
            others.any(|other| other.row.is_computed_from(row))
        };
        let rows = part.iter().map(|index| &ledger.rows[*index]);
        let mut cases: Vec<JobCase> = rows
            .filter(|row| row.takes_part())
            .filter(|row| pass == Pass::Timed || round == 0 || row.is_doubtful())
            .map(|row| JobCase {
                instead: None,
                suffix: row.row.case.suffix(),
                is_audited: round == 0 || row.is_doubtful(),
                iterations: row.iterations(),
                // Rows that are sources of computed rows need rounds that all of them have.
                may_defer: self.may_defer && row.may_defer() && !is_source(&row.row),
            })
            .collect();
        random.shuffle(&mut cases);
        let due = Due {
            round,
            pass,
            benchmark,
            cases,
            keeps_order: self.runs > 1 || benchmark.stays,
            effort: self.pace.scaled(&self.effort()),
            seed: random.u64(..1 << 53),
            stack_offset: random.usize(..4096),
            padding: random.usize(..4096),
        };
        (!due.cases.is_empty()).then_some(due)
    }

    /// Where these runs stand after this many rounds.
    pub(super) fn standing<'l>(
        &self,
        ledgers: &'l [Ledger],
        rounds: u32,
        now: Instant,
    ) -> Standing<'l> {
        Standing {
            ledgers,
            rounds,
            min_rounds: self.min_rounds,
            budget_s: self.budget.total_s,
            left_s: self.budget.left_s(now),
        }
    }

    pub(super) fn set_pace(&mut self, standing: &Standing<'_>) {
        self.pace = self.pace.after(standing);
    }

    /// Lets rows be deferred while no core is ours where that is worthwhile. In a pair both sides
    /// have all rounds, since these are compared.
    pub(super) fn set_deferral(&mut self, standing: &Standing<'_>) {
        let (counting, all) = standing.counting();
        self.may_defer =
            self.runs == 1 && all > 0 && counting as f64 >= OFTEN_EXCLUSIVE * all as f64;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::session::journal::tests::header;
    use crate::session::ledger::tests::{BENCHMARKS, ledger, own_up_to, record};
    use crate::session::row::RowState;

    fn schedule(runs: usize) -> Schedule {
        let budget = Budget {
            begun: Instant::now(),
            earlier: Duration::ZERO,
            total_s: 10.0,
            patience: Duration::ZERO,
            waited: Duration::ZERO,
        };
        Schedule::new(&header().config, budget, runs)
    }

    #[test]
    fn a_row_is_counted_in_the_first_round_and_timed_in_each() {
        let (schedule, ledger) = (schedule(1), ledger());
        let mut random = schedule.random_of(0);
        let part = (&BENCHMARKS[0], &[0][..]);
        let mut due = |pass, round| schedule.due(&ledger, part, pass, round, &mut random);
        let is_due = [0, 1].map(|round| due(Pass::Evidence, round).is_some());
        assert_eq!(is_due, [true, false]);
        let is_due = [0, 1].map(|round| due(Pass::Timed, round).is_some());
        assert_eq!(is_due, [true, true]);
    }

    #[test]
    fn many_rows_are_counted_and_timed_by_the_dozen_in_the_first_round() {
        let mut ledger = ledger();
        let again = || RowState::new(ledger.rows[0].row.clone(), 0, 0.02);
        let more: Vec<RowState> = (0..29).map(|_| again()).collect();
        ledger.rows.extend(more);
        let sizes = |round| -> Vec<usize> {
            let parts = Schedule::parts(&ledger, &BENCHMARKS[0], round);
            parts.iter().map(Vec::len).collect()
        };
        assert_eq!(sizes(0), [12, 12, 6]);
        assert_eq!(sizes(1), [30]);
        let schedule = schedule(1);
        let parts = Schedule::parts(&ledger, &BENCHMARKS[0], 0);
        let mut random = schedule.random_of(0);
        let mut due = |part: &[usize], pass| {
            let due = schedule.due(&ledger, (&BENCHMARKS[0], part), pass, 0, &mut random);
            due.expect("is due").cases.len()
        };
        let passes = [Pass::Evidence, Pass::Timed].map(|pass| due(&parts[2], pass));
        assert_eq!(passes, [6, 6]);
    }

    #[test]
    fn what_is_not_due_draws_as_much() {
        let (schedule, mut ledger) = (schedule(1), ledger());
        let mut next = |is_skipped: bool| {
            ledger.rows[0].skipped = is_skipped.then(String::new);
            let mut random = schedule.random_of(0);
            let part = (&BENCHMARKS[0], &[0][..]);
            let due = schedule.due(&ledger, part, Pass::Timed, 0, &mut random);
            assert_eq!(due.is_none(), is_skipped);
            random.u64(..)
        };
        assert_eq!(next(false), next(true));
    }

    #[test]
    fn rows_of_one_run_are_deferred_where_cores_are_often_ours() {
        let may_defer = |runs: usize, limit: f64| {
            let mut ledgers = [ledger()];
            let fresh = record(0, Pass::Timed, 0, 0.1);
            ledgers[0].judge(own_up_to(limit));
            ledgers[0].enter(fresh);
            let mut schedule = schedule(runs);
            let standing = schedule.standing(&ledgers, 1, schedule.budget.begun);
            schedule.set_deferral(&standing);
            let mut random = schedule.random_of(1);
            let part = (&BENCHMARKS[0], &[0][..]);
            let due = schedule.due(&ledgers[0], part, Pass::Timed, 1, &mut random);
            let due = due.expect("is due");
            (due.cases[0].may_defer, due.keeps_order)
        };
        assert_eq!(may_defer(1, 1.1), (true, false));
        assert_eq!(may_defer(1, 0.5), (false, false), "no round counts");
        assert_eq!(
            may_defer(2, 1.1),
            (false, true),
            "both runs have all rounds"
        );
    }

    #[test]
    fn random_choices_of_rounds_differ() {
        let first = |seed, round| {
            let one = Schedule {
                seed,
                ..schedule(1)
            };
            one.random_of(round).u64(..)
        };
        let rounds: std::collections::BTreeSet<u64> =
            (0..100).map(|round| first(7, round)).collect();
        assert_eq!(rounds.len(), 100);
        assert_ne!(first(7, 1), first(8, 1));
    }
}
