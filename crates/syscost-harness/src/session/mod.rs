//! A run: machine, clock and noise first, then shuffled rounds of fresh processes until every row
//! is sure enough.
//!
//! A [`Session`] is made of a schedule, which says what is due, an executor, which makes records of
//! that, and a ledger, which makes rows of records; of one ledger for each run, where several are
//! measured in turn.

mod computed;
mod executor;
mod frequencies;
pub mod journal;
mod kept;
mod ledger;
mod prepare;
mod request;
mod row;
mod schedule;

use std::array;
use std::ops::ControlFlow;
use std::thread;
use std::time::{Duration, Instant};

use syscost_results::estimate::frequency;
use syscost_results::estimate::sharing::OwnCore;

use self::executor::Executor;
use self::journal::Header;
use self::ledger::Ledger;
use self::row::RowState;
use self::schedule::{Schedule, Standing, dropped, order, resting, returning, too_expensive};
use crate::benchmark::Entry;
use crate::failure::Failure;
use crate::pass::Pass;

pub use crate::profile::Profile;
pub use computed::computed;
pub use ledger::Finished;
pub use request::{Event, INTERRUPTED, Observer, Options, SessionError};

/// How long a patient run rests before it listens again.
const REST: Duration = Duration::from_millis(100);

/// A run in progress, or `RUNS` runs of the same rows that are measured in turn, so that the
/// machine's drift affects all alike: their rounds of a benchmark are adjacent, A B in one round, B
/// A in the next, and a drift that is slow compared with one worker's life cancels. They use the
/// same shuffles, paddings and offsets.
pub struct Session<'a, const RUNS: usize = 1> {
    schedule: Schedule,
    executor: Executor<'a>,
    ledgers: [Ledger; RUNS],
}

impl Session<'_> {
    /// What was known before the first round.
    pub fn header(&self) -> &Header {
        let [ledger] = &self.ledgers;
        &ledger.header
    }
}

impl<const RUNS: usize> Session<'_, RUNS> {
    /// Measures until every row is settled, the budget is spent or Ctrl-C arrives. Everything
    /// measured by then is kept.
    pub fn measure(&mut self, observer: &mut dyn Observer) {
        for ledger in &mut self.ledgers {
            let (budget_s, share) = (self.schedule.budget.total_s, 1.0 / RUNS as f64);
            for (index, reason) in too_expensive(&ledger.rows, budget_s, share) {
                ledger.rows[index].skipped = Some(reason);
            }
        }
        observer.event(Event::Begin {
            rows: self.rows().count(),
            journal: self.ledgers.iter().find_map(Ledger::journal_path),
        });
        // However it ended: an interrupted run has what it measured.
        let (ControlFlow::Continue(()) | ControlFlow::Break(())) = self.rounds(observer);
    }

    /// All rounds; a break if the budget was spent or Ctrl-C arrived before the last one was over.
    fn rounds(&mut self, observer: &mut dyn Observer) -> ControlFlow<()> {
        for round in 0..self.schedule.max_rounds() {
            let was_replaying = self.is_replaying();
            self.round(round, observer)?;
            // A round that was cut short is not judged as if it were complete.
            self.settle(round + 1);
            if !was_replaying {
                for index in returning(&self.standing(round + 1)) {
                    self.each(index).for_each(RowState::bring_back);
                }
            }
            if !self.rows().any(RowState::is_active) || self.is_spent() {
                break;
            }
            if !was_replaying {
                self.leave_out(round + 1);
                let standing = self
                    .schedule
                    .standing(&self.ledgers, round + 1, Instant::now());
                let resting = resting(&standing, self.schedule.profile);
                self.schedule.set_pace(&standing);
                for ledger in &mut self.ledgers {
                    for (index, row) in ledger.rows.iter_mut().enumerate() {
                        row.is_postponed = resting.contains(&index);
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// One round: every active benchmark once, in a fresh order.
    fn round(&mut self, round: u32, observer: &mut dyn Observer) -> ControlFlow<()> {
        for ledger in &mut self.ledgers {
            ledger.forget_before(round);
        }
        let mut random = self.schedule.random_of(round);
        let order = order(&self.ledgers, round, &mut random);
        let count = order.len();
        for (index, benchmark) in order.into_iter().enumerate() {
            // Every job draws its numbers whether it runs or not, so that a resumed run shuffles
            // like an unbroken one.
            let seed = random.u64(..);
            if self.is_spent() {
                return ControlFlow::Break(());
            }
            let share = index as f64 / count as f64;
            let now = Instant::now();
            observer.event(self.schedule.working(benchmark, round, share, now));
            if self.executor.choose_cpu(!self.is_replaying()) {
                self.judge();
            }
            self.wait_for_core();
            for run in turns::<RUNS>(round) {
                self.step(run, benchmark, round, seed, observer)?;
            }
            if round == 0 && !self.is_replaying() {
                self.leave_out(0);
            }
        }
        ControlFlow::Continue(())
    }

    /// One benchmark in one round of one run, part by part: the evidence pass, if it is the first round
    /// or a count is doubtful, then the timed one.
    fn step(
        &mut self,
        run: usize,
        benchmark: &'static Entry,
        round: u32,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> ControlFlow<()> {
        let mut random = fastrand::Rng::with_seed(seed);
        let parts = Schedule::parts(&self.ledgers[run], benchmark, round);
        let passes = |part| [Pass::Evidence, Pass::Timed].map(|pass| (part, pass));
        for (part, pass) in parts.iter().flat_map(passes) {
            if self.is_spent() {
                break;
            }
            let ledger = &mut self.ledgers[run];
            let part = (benchmark, part.as_slice());
            let due = self.schedule.due(ledger, part, pass, round, &mut random);
            let Some(due) = due else { continue };
            let record = match ledger.recorded(&due) {
                Some(record) => record,
                None => {
                    let deadline = self.schedule.budget.deadline();
                    let Ok(mut record) = self.executor.run(run, due, deadline) else {
                        return ControlFlow::Break(());
                    };
                    let elapsed = self.schedule.budget.elapsed(Instant::now());
                    record.elapsed_s = elapsed.as_secs_f64();
                    for (suffix, result) in &record.cases {
                        if let Err(failure) = result
                            && *failure != Failure::Deferred
                        {
                            observer.event(Event::Trouble {
                                name: &format!("{}{suffix}", benchmark.id),
                                reason: &failure.to_string(),
                            });
                        }
                    }
                    ledger.keep(&record);
                    record
                }
            };
            self.executor.note(&record);
            ledger.enter(record);
        }
        ControlFlow::Continue(())
    }

    /// Settles rows after this many rounds. Those of several runs are compared round by round: one
    /// needs no more rounds once it needs none in any run, or has no number in one.
    fn settle(&mut self, rounds: u32) {
        if RUNS > 1 {
            // One frequency for all: separate ones would add a difference of their own.
            let rounds = self.ledgers.iter().flat_map(Ledger::rounds);
            let usual = frequency::usual(frequency::known(rounds));
            for ledger in &mut self.ledgers {
                ledger.common_ghz = usual;
            }
        }
        for ledger in &mut self.ledgers {
            if self.schedule.may_settle(rounds) {
                ledger.settle(self.schedule.profile);
            }
        }
        for index in 0..self.ledgers[0].rows.len() {
            let is_out = |row: &mut RowState| row.failure.is_some() || row.skipped.is_some();
            let settled = self.each(index).all(|row| row.settled) || self.each(index).any(is_out);
            self.each(index).for_each(|row| row.settled = settled);
        }
        let standing = self
            .schedule
            .standing(&self.ledgers, rounds, Instant::now());
        self.schedule.set_deferral(&standing);
    }

    /// Where the runs stand after this many rounds.
    fn standing(&self, rounds: u32) -> Standing<'_> {
        self.schedule
            .standing(&self.ledgers, rounds, Instant::now())
    }

    /// Leaves out rows for which there is no time, after this many rounds.
    fn leave_out(&mut self, rounds: u32) {
        for (index, reason) in dropped(&self.standing(rounds)) {
            self.each(index)
                .for_each(|row| row.leave_out(reason.clone()));
        }
    }

    /// Waits until a core is ours at least now and then, for as long as the run may in addition.
    fn wait_for_core(&mut self) {
        while !self.is_replaying()
            && !self.executor.is_interrupted()
            && !self.schedule.budget.patience.is_zero()
            && self.executor.no_core_is_exclusive()
        {
            let begun = Instant::now();
            thread::sleep(REST);
            if self.executor.listen() {
                self.judge();
            }
            self.schedule.budget.note_waited(begun.elapsed());
        }
    }

    /// Judges all samples anew, since more is known of cores.
    fn judge(&mut self) {
        let cores = OwnCore::of_noise(&self.executor.noise());
        let ledgers = self.ledgers.iter_mut();
        ledgers.for_each(|ledger| ledger.judge(cores.clone()));
    }

    fn rows(&self) -> impl Iterator<Item = &RowState> {
        self.ledgers.iter().flat_map(|ledger| &ledger.rows)
    }

    fn each(&mut self, index: usize) -> impl Iterator<Item = &mut RowState> {
        self.ledgers
            .iter_mut()
            .map(move |ledger| &mut ledger.rows[index])
    }

    /// Whether a resumed run has not come to where it was interrupted.
    fn is_replaying(&self) -> bool {
        self.ledgers.iter().any(Ledger::is_replaying)
    }

    fn is_spent(&self) -> bool {
        self.schedule.budget.is_spent(Instant::now())
    }

    /// Returns the documents of what was measured. The journal of an interrupted run is kept, so
    /// that it can be resumed.
    pub fn finish(mut self, keep_samples: bool) -> [Finished; RUNS] {
        // Listen once more to confirm what undisturbed cores show.
        if !self.executor.is_interrupted() && self.rows().any(|row| !row.rounds.is_empty()) {
            let has_learnt = self.executor.listen();
            // Samples of before an interruption are of another hour than this session listened to.
            let is_one = self
                .ledgers
                .iter()
                .all(|ledger| ledger.header.config.resumed == 0);
            let rounds = || self.ledgers.iter().flat_map(Ledger::rounds);
            let has_shifted = is_one && self.executor.learn_from_samples(rounds());
            if has_shifted || has_learnt {
                self.judge();
            }
        }
        let (executor, took) = (&self.executor, self.schedule.budget.elapsed(Instant::now()));
        let waited = self.schedule.budget.waited;
        self.ledgers.map(|ledger| Finished {
            waited,
            ..ledger.finish(executor, took, keep_samples)
        })
    }
}

/// The runs in the order in which this round measures them: A B, B A, B A, A B, and so on. A steady
/// drift cancels over each two rounds, and either is first as often in even rounds as in odd ones,
/// which begin with other benchmarks.
fn turns<const RUNS: usize>(round: u32) -> [usize; RUNS] {
    let mut turns = array::from_fn(|run| run);
    if round.count_ones() % 2 == 1 {
        turns.reverse();
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_drift_cancels_over_two_rounds() {
        let order = [0, 1].map(turns::<2>).concat();
        let order = &order;
        let positions = |run| (0..order.len()).filter(move |at| order[*at] == run);
        assert_eq!(positions(0).sum::<usize>(), positions(1).sum::<usize>());
        let b_first = |rounds: [u32; 4]| {
            rounds
                .into_iter()
                .filter(|r| turns::<2>(*r)[0] == 1)
                .count()
        };
        assert_eq!((b_first([0, 2, 4, 6]), b_first([1, 3, 5, 7])), (2, 2));
    }
}
