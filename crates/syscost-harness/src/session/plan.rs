//! The shuffled rounds, the stop rule and the budget.

use std::time::Instant;

use syscost_results::stats::looks::StopRule;
use syscost_sys::random;

use super::budget::{Pace, bring_back, drop_rows, postpone, scaled};
use super::journal::{self, Journal, Record};
use super::order::order;
use super::rows::RowState;
use super::{Event, Observer, Profile, Session};
use crate::bencher::{Effort, Pass};
use crate::benchmark::{Benchmark, Setup};
use crate::catalogue::Row;
use crate::failure::Failure;
use crate::worker::{Interrupted, Job, JobCase};

/// Rounds of a benchmark with an expensive set-up: the minimum that gives an interval, each with
/// more samples.
pub(super) const EXPENSIVE_LOOKS: [u32; 1] = [6];

impl Session<'_> {
    /// Measures until every row is settled, the budget is spent or Ctrl-C arrives. Everything
    /// measured by then is kept.
    pub fn measure(&mut self, observer: &mut dyn Observer) {
        let profile = Profile::from_name(&self.header.config.profile).unwrap_or_default();
        self.skip_what_cannot_fit(1.0);
        observer.event(Event::Begin {
            rows: self.states.len(),
            journal: self.journal.as_ref().map(Journal::path),
        });
        let mut pace = Pace::FULL;
        for round in 0..profile.max_rounds() {
            let replayed = !self.replay.is_empty();
            match self.round(round, pace, profile, observer) {
                Ok(Round::Whole) => {}
                // A round that was cut short is not judged as if it were complete.
                Ok(Round::Cut) | Err(Interrupted) => return,
            }
            self.settle(profile);
            if !replayed {
                bring_back(self, round + 1);
            }
            if !self.states.iter().any(|state| state.is_active()) || self.is_spent() {
                return;
            }
            if !replayed {
                drop_rows(&mut [self], round + 1);
                pace = self.pace(pace, round + 1, &[self]);
                postpone(&mut [self], round + 1, profile);
            }
        }
    }

    /// One round: every active benchmark once, in a fresh order.
    fn round(
        &mut self,
        round: u32,
        pace: Pace,
        profile: Profile,
        observer: &mut dyn Observer,
    ) -> Result<Round, Interrupted> {
        // Records of rounds that are over now belong to rows that needed fewer rounds this time.
        self.replay.retain(|record| record.round >= round);
        let mut random = random_of(self.header.config.seed, round);
        let order = order(&[self], round, &mut random);
        let count = order.len();
        for (index, benchmark) in order.into_iter().enumerate() {
            // Every job draws its numbers whether it runs or not, so that a resumed run shuffles
            // like an unbroken one.
            let seed = random.u64(..);
            if self.is_spent() {
                return Ok(Round::Cut);
            }
            observer.event(self.working(benchmark, round, index as f64 / count as f64));
            self.choose_cpu();
            self.step(benchmark, round, pace, profile, seed, observer)?;
            if round == 0 && self.replay.is_empty() {
                drop_rows(&mut [self], 0);
            }
        }
        Ok(Round::Whole)
    }

    /// The event before a benchmark, when this share of its round is done.
    pub(super) fn working(
        &self,
        benchmark: &'static Benchmark,
        round: u32,
        share: f64,
    ) -> Event<'static> {
        let rounds = self.header.config.min_rounds.max(round + 1);
        let done = (f64::from(round) + share) / f64::from(rounds);
        Event::Working {
            benchmark: benchmark.id,
            round: round + 1,
            rounds,
            done,
            left: self.time_left(done),
        }
    }

    /// One benchmark in one round: the evidence pass, if it is the first round or a count is
    /// doubtful, then the timed one.
    pub(super) fn step(
        &mut self,
        benchmark: &'static Benchmark,
        round: u32,
        pace: Pace,
        profile: Profile,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<(), Interrupted> {
        let mut random = fastrand::Rng::with_seed(seed);
        let effort = scaled(&profile.effort(), pace);
        for pass in [Pass::Evidence, Pass::Timed] {
            if self.is_spent() {
                return Ok(());
            }
            self.job(
                benchmark,
                pass,
                round,
                effort.clone(),
                &mut random,
                observer,
            )?;
        }
        Ok(())
    }

    fn job(
        &mut self,
        benchmark: &'static Benchmark,
        pass: Pass,
        round: u32,
        effort: Effort,
        random: &mut fastrand::Rng,
        observer: &mut dyn Observer,
    ) -> Result<(), Interrupted> {
        let is_source = |row: &Row| {
            let mut others = self.states.iter();
            others.any(|other| other.row.is_computed_from(row))
        };
        let active = self.states.iter();
        let mut cases: Vec<JobCase> = active
            .filter(|state| state.row.benchmark.id == benchmark.id && state.takes_part())
            .filter(|state| pass == Pass::Timed || round == 0 || state.is_doubtful())
            .map(|state| JobCase {
                instead: None,
                suffix: state.row.case.suffix(),
                iterations: state.iterations(),
                // Rows that are sources of computed rows need rounds that all of them have.
                may_defer: self.may_defer && state.may_defer() && !is_source(&state.row),
            })
            .collect();
        random.shuffle(&mut cases);
        let job = Job {
            benchmark: benchmark.id.to_owned(),
            cases,
            keeps_order: self.is_of_pair || benchmark.stays,
            pass,
            effort,
            clock: self.settings.clone(),
            cpu: self.cpu,
            candidates: self.measurable.clone(),
            allowed: self.usable.clone(),
            cores: self.cores.clone(),
            targets: self.here.targets.clone(),
            programs: self.here.programs.clone(),
            seed: random.u64(..1 << 53),
            stack_offset: random.usize(..4096),
            parent: std::process::id(),
        };
        let padding = random.usize(..4096);
        if job.cases.is_empty() {
            return Ok(());
        }
        let known = |record: &Record| {
            (record.round, record.pass, &*record.benchmark) == (round, pass, benchmark.id)
        };
        if let Some(index) = self.replay.iter().position(known) {
            let record = self.replay.swap_remove(index);
            self.absorb(record);
            return Ok(());
        }
        let begun = Instant::now();
        let record = self.execute(job, round, padding)?;
        if pass == Pass::Timed {
            let cases = record
                .cases
                .iter()
                .filter_map(|(_, result)| result.as_ref().ok());
            let took_ns: f64 = cases.map(|findings| findings.took_ns).sum();
            self.beside_s
                .push((begun.elapsed().as_secs_f64() - took_ns / 1e9).max(0.0));
        }
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
        if record.is_whole {
            self.write(&record);
        }
        self.absorb(record);
        Ok(())
    }

    fn write(&mut self, record: &Record) {
        if let Some(journal) = &mut self.journal
            && let Err(error) = journal.append(record)
        {
            self.header.warnings.push(journal::lost(&error));
            self.journal = None;
        }
    }

    /// Settles rows at a look: those whose interval is narrow enough, and those that no more rounds
    /// would help.
    pub(super) fn settle(&mut self, profile: Profile) {
        let rule = profile.stop_rule();
        let frequencies = self.frequencies();
        for state in &mut self.states {
            let looks = looks_of(state.row.setup(), rule.looks);
            let kept = self.kept.of(state);
            state.settled |= state.ends(StopRule { looks, ..rule }, &frequencies, kept);
        }
        self.may_defer = self.cores_are_often_exclusive();
    }
}

/// The benchmarks with such rows in these sessions, in the report's order.
pub(super) fn benchmarks(
    sessions: &[&Session<'_>],
    is_wanted: fn(&RowState) -> bool,
) -> Vec<&'static Benchmark> {
    let mut found: Vec<&'static Benchmark> = Vec::new();
    for session in sessions {
        for state in session.states.iter().filter(|state| is_wanted(state)) {
            if !found.iter().any(|known| known.id == state.row.benchmark.id) {
                found.push(state.row.benchmark);
            }
        }
    }
    found
}

/// How a round ended.
enum Round {
    /// Every active benchmark was measured.
    Whole,
    /// The budget was spent before the last of them.
    Cut,
}

/// The numbers of rounds at which a benchmark with this set-up may stop.
pub(super) fn looks_of(setup: Setup, looks: &[u32]) -> &[u32] {
    match setup {
        Setup::Cheap => looks,
        Setup::Expensive { .. } => &EXPENSIVE_LOOKS,
    }
}

/// The source of a round's random choices.
pub(super) fn random_of(seed: u64, round: u32) -> fastrand::Rng {
    fastrand::Rng::with_seed(random::nth(seed, u64::from(round) + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPENSIVE: Setup = Setup::Expensive { seconds: 2.0 };

    #[test]
    fn an_expensive_set_up_gets_fewer_and_longer_rounds() {
        let looks = Profile::Full.looks();
        assert_eq!(looks_of(Setup::Cheap, looks), looks);
        assert_eq!(looks_of(EXPENSIVE, looks), [6]);
        let cheap = Profile::Standard.effort();
        assert_eq!(cheap.with_setup(EXPENSIVE).samples, 2 * cheap.samples);
        assert_eq!(cheap.with_setup(Setup::Cheap), cheap);
    }

    #[test]
    fn random_choices_of_rounds_differ() {
        let first = |seed, round| random_of(seed, round).u64(..);
        let rounds: std::collections::BTreeSet<u64> =
            (0..100).map(|round| first(7, round)).collect();
        assert_eq!(rounds.len(), 100);
        assert_ne!(first(7, 1), first(8, 1));
    }
}
