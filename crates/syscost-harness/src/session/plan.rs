//! The shuffled rounds, the stop rule and the budget.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use syscost_results::stats::looks::StopRule;

use super::journal::{Journal, Record};
use super::rows::RowState;
use super::{Event, Observer, Profile, Session, SessionError};
use crate::bencher::{Effort, Pass};
use crate::benchmark::{Benchmark, Setup};
use crate::worker::{Job, WorkerError};

/// Rounds of a benchmark whose set-up is dear: the fewest that give an interval, each with more samples.
const DEAR_LOOKS: [u32; 1] = [6];

/// Set-up of one benchmark may take this share of the budget.
const DEAR_SHARE: f64 = 0.5;

/// Effort is never scaled below this to fit a budget.
const LEAST_SCALE: f64 = 0.2;

/// What is left of a round's length with samples as few as they may become: set-up takes as long as ever.
const SHRINKS: f64 = 0.7;

/// Kept back from the budget for the last worker and the document.
const RESERVE: Duration = Duration::from_millis(300);

impl Session<'_> {
    /// Measures until every row is settled, the budget is spent or Ctrl-C arrives. Whatever is measured by then stays.
    ///
    /// # Errors
    /// When no worker can be started at all.
    pub fn measure(&mut self, observer: &mut dyn Observer) -> Result<(), SessionError> {
        let profile = Profile::from_name(&self.header.config.profile).unwrap_or_default();
        self.skip_what_cannot_fit(1.0);
        observer.event(Event::Begin {
            rows: self.states.len(),
            journal: self.journal.as_ref().map(Journal::path),
        });
        let mut scale = 1.0;
        for round in 0..profile.most_rounds() {
            let before = self.elapsed();
            self.choose_cpu(round);
            let replayed = !self.replay.is_empty();
            match self.round(round, scale, profile, observer) {
                Ok(Round::Whole) => {}
                // What a cut round lacks is not judged as if it were there.
                Ok(Round::Cut) | Err(WorkerError::Interrupted) => return Ok(()),
                Err(error) => return Err(SessionError::Worker(error)),
            }
            self.settle(profile);
            if !self.states.iter().any(|state| state.is_active()) || self.is_spent() {
                return Ok(());
            }
            if !replayed {
                self.shed(round + 1);
                scale = self.rescaled(scale, round + 1, (self.elapsed() - before).as_secs_f64());
            }
        }
        Ok(())
    }

    /// One round: every active benchmark once, in a fresh order.
    fn round(
        &mut self,
        round: u32,
        scale: f64,
        profile: Profile,
        observer: &mut dyn Observer,
    ) -> Result<Round, WorkerError> {
        let mut order = active_benchmarks(&[self]);
        let mut random = fastrand::Rng::with_seed(mix(self.header.config.seed, u64::from(round)));
        random.shuffle(&mut order);
        let count = order.len();
        for (index, benchmark) in order.into_iter().enumerate() {
            // Every job draws its numbers whether it runs or not, so that a resumed run shuffles like an unbroken one.
            let seed = random.u64(..);
            if self.is_spent() {
                return Ok(Round::Cut);
            }
            observer.event(self.working(benchmark, round, index as f64 / count as f64));
            self.step(benchmark, round, scale, profile, seed, observer)?;
        }
        Ok(Round::Whole)
    }

    /// What to tell before a benchmark, when that share of its round is done.
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

    /// One benchmark in one round: the evidence pass before the first timed one.
    pub(super) fn step(
        &mut self,
        benchmark: &'static Benchmark,
        round: u32,
        scale: f64,
        profile: Profile,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<(), WorkerError> {
        let mut random = fastrand::Rng::with_seed(seed);
        let effort = scaled(&profile.effort(), scale);
        let passes: &[Pass] = if round == 0 {
            &[Pass::Evidence, Pass::Timed]
        } else {
            &[Pass::Timed]
        };
        for pass in passes {
            let begun = Instant::now();
            self.job(
                benchmark,
                *pass,
                round,
                effort.clone(),
                &mut random,
                observer,
            )?;
            if *pass == Pass::Timed {
                self.round_s
                    .insert(benchmark.id, begun.elapsed().as_secs_f64());
            }
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
    ) -> Result<(), WorkerError> {
        let mut cases: Vec<(String, Option<u64>)> = self
            .states
            .iter()
            .filter(|state| state.row.benchmark.id == benchmark.id && state.is_active())
            .map(|state| (state.row.case.suffix(), state.iterations))
            .collect();
        random.shuffle(&mut cases);
        let job = Job {
            benchmark: benchmark.id.to_owned(),
            cases,
            pass,
            effort,
            clock: self.settings.clone(),
            cpu: self.cpu,
            allowed: self.allowed.clone(),
            cores: self.cores.clone(),
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
        let record = self.execute(job, round, padding)?;
        for (suffix, result) in &record.cases {
            if let Err(failure) = result {
                observer.event(Event::Trouble {
                    name: &format!("{}{suffix}", benchmark.id),
                    reason: &failure.to_string(),
                });
            }
        }
        self.write(&record);
        self.absorb(record);
        Ok(())
    }

    /// Leaves out the benchmarks that take longest per row where the fewest rounds of all of them cannot be had in the time that is left: an interval for
    /// most rows is worth more than a range for all.
    fn shed(&mut self, rounds: u32) {
        let to_go = self.header.config.min_rounds.saturating_sub(rounds);
        let left = self
            .deadline()
            .saturating_duration_since(Instant::now())
            .as_secs_f64();
        let mut costs: Vec<(&'static str, f64, usize)> = active_benchmarks(&[self])
            .into_iter()
            .map(|benchmark| {
                let of_this =
                    |state: &&RowState| state.row.benchmark.id == benchmark.id && state.is_active();
                let rows = self.states.iter().filter(of_this).count();
                (
                    benchmark.id,
                    self.round_s.get(benchmark.id).copied().unwrap_or(0.0),
                    rows,
                )
            })
            .collect();
        for id in too_long(&mut costs, to_go, left) {
            let seconds = self.round_s.get(id).copied().unwrap_or(0.0);
            for state in self
                .states
                .iter_mut()
                .filter(|state| state.row.benchmark.id == id && state.is_active())
            {
                state.skipped = Some(format!(
                    "the time budget was too short: its benchmark takes {seconds:.1} s in each of {} rounds; give it more with --budget",
                    self.header.config.min_rounds
                ));
            }
        }
    }

    /// At a look, rows whose interval is narrow enough need no more rounds, and those that no more rounds would help.
    pub(super) fn settle(&mut self, profile: Profile) {
        let rule = profile.stop_rule();
        self.update_frequency();
        let usual_ghz = self.usual_ghz();
        for state in &mut self.states {
            let looks = looks_of(state.row.setup(), rule.looks);
            state.settled |= state.ends(StopRule { looks, ..rule }, usual_ghz);
        }
    }

    /// Whether the budget ends the run; a resumed one has it anew.
    pub(super) fn is_spent(&self) -> bool {
        Instant::now() >= self.deadline()
    }

    /// When the last worker must have ended.
    pub(super) fn deadline(&self) -> Instant {
        self.begun + self.budget().saturating_sub(RESERVE)
    }

    fn budget(&self) -> Duration {
        Duration::from_secs_f64(self.header.config.budget_s)
    }

    /// Effort for the rounds to come, so that the fewest rounds fit into the budget.
    pub(super) fn rescaled(&self, scale: f64, rounds: u32, last_round_s: f64) -> f64 {
        let to_go = self.header.config.min_rounds.saturating_sub(rounds);
        let left = self
            .budget()
            .saturating_sub(self.begun.elapsed() + RESERVE)
            .as_secs_f64();
        rescale(scale, to_go, left, last_round_s)
    }

    fn time_left(&self, done: f64) -> Duration {
        let elapsed = self.begun.elapsed().as_secs_f64();
        let by_pace = if done > 0.0 {
            elapsed / done - elapsed
        } else {
            f64::INFINITY
        };
        let by_budget = self.header.config.budget_s - elapsed;
        Duration::from_secs_f64(by_pace.min(by_budget).max(0.0))
    }

    /// Skips what is too dear for the budget, of which this run has that share.
    pub(super) fn skip_what_cannot_fit(&mut self, share: f64) {
        let budget = share * self.header.config.budget_s;
        let mut together: BTreeMap<&str, f64> = BTreeMap::new();
        for state in &self.states {
            *together.entry(state.row.benchmark.id).or_default() += state.row.setup().seconds();
        }
        for state in &mut self.states {
            let is_dear = state.row.setup() != Setup::Cheap;
            let seconds = together[state.row.benchmark.id];
            state.skipped = is_dear.then(|| too_dear(seconds, budget)).flatten();
        }
    }
}

/// The benchmarks that some of these sessions still measure, in the report's order.
pub(super) fn active_benchmarks(sessions: &[&Session<'_>]) -> Vec<&'static Benchmark> {
    let mut found: Vec<&'static Benchmark> = Vec::new();
    for session in sessions {
        for state in session.states.iter().filter(|state| state.is_active()) {
            if !found.iter().any(|known| known.id == state.row.benchmark.id) {
                found.push(state.row.benchmark);
            }
        }
    }
    found
}

/// Of benchmarks, each with the seconds it takes in a round and its rows, those to leave out so that so many rounds fit into the time left, with samples
/// as few as they may become: the longest per row first.
fn too_long(
    costs: &mut [(&'static str, f64, usize)],
    to_go: u32,
    left_s: f64,
) -> Vec<&'static str> {
    let per_row = |(_, seconds, rows): &(&str, f64, usize)| seconds / (*rows).max(1) as f64;
    costs.sort_by(|a, b| per_row(b).total_cmp(&per_row(a)));
    let mut needed: f64 =
        f64::from(to_go) * costs.iter().map(|(_, seconds, _)| seconds).sum::<f64>();
    let mut left_out = Vec::new();
    for (id, seconds, _) in costs.iter() {
        if SHRINKS * needed <= left_s {
            break;
        }
        needed -= f64::from(to_go) * seconds;
        left_out.push(*id);
    }
    left_out
}

/// How a round ended.
enum Round {
    /// Every active benchmark was measured.
    Whole,
    /// The budget was spent before the last of them.
    Cut,
}

/// Why a benchmark cannot be afforded whose rows' set-up takes so long together, if so.
fn too_dear(seconds: f64, budget_s: f64) -> Option<String> {
    let rounds = DEAR_LOOKS[0];
    (seconds * f64::from(rounds) > budget_s * DEAR_SHARE).then(|| {
        format!(
            "the set-up of its benchmark's rows takes about {seconds:.1} s in each of {rounds} rounds, more than half of the budget \
             of {budget_s:.0} s; give it more with --budget"
        )
    })
}

/// The numbers of rounds at which a benchmark of this set-up may stop.
fn looks_of(setup: Setup, looks: &[u32]) -> &[u32] {
    match setup {
        Setup::Cheap => looks,
        Setup::Dear { .. } => &DEAR_LOOKS,
    }
}

/// The scale at which `to_go` more rounds fit into what is left, going by the last round. The first round carries the
/// evidence pass as well, so its length is an upper bound, and the scale may rise again later.
fn rescale(scale: f64, to_go: u32, left_s: f64, last_round_s: f64) -> f64 {
    if to_go == 0 || last_round_s <= 0.0 {
        return scale;
    }
    (scale * left_s / (last_round_s * f64::from(to_go))).clamp(LEAST_SCALE, 1.0)
}

fn scaled(effort: &Effort, scale: f64) -> Effort {
    Effort {
        samples: (f64::from(effort.samples) * scale).ceil() as u32,
        warm_up_ns: effort.warm_up_ns,
        case_ns: effort.case_ns * scale,
        patience_ns: effort.patience_ns * scale,
        batch_ns: effort.batch_ns,
        second_witness: effort.second_witness,
    }
}

/// One seed from two, by the finaliser of SplitMix64.
pub(super) fn mix(seed: u64, salt: u64) -> u64 {
    let mut z = seed.wrapping_add(salt.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEAR: Setup = Setup::Dear { seconds: 2.0 };

    #[test]
    fn a_dear_set_up_gets_fewer_and_longer_rounds() {
        let looks = Profile::Standard.looks();
        assert_eq!(looks_of(Setup::Cheap, looks), looks);
        assert_eq!(looks_of(DEAR, looks), [6]);
        let cheap = Profile::Standard.effort();
        assert_eq!(cheap.with_setup(DEAR).samples, 2 * cheap.samples);
        assert_eq!(cheap.with_setup(Setup::Cheap), cheap);
    }

    #[test]
    fn a_set_up_that_eats_the_budget_is_skipped_with_advice() {
        assert_eq!(
            too_dear(2.0, 24.0),
            None,
            "six rounds of 2 s fit into half of 24 s"
        );
        let reason = too_dear(2.0, 23.0).expect("they do not fit into half of 23 s");
        assert!(reason.contains("about 2.0 s in each of 6 rounds") && reason.contains("--budget"));
    }

    #[test]
    fn what_takes_longest_per_row_is_left_out_first() {
        let costs = || [("many", 1.0, 100), ("long", 1.0, 2), ("short", 0.1, 1)];
        assert_eq!(too_long(&mut costs(), 5, 11.0), [""; 0]);
        assert_eq!(too_long(&mut costs(), 5, 5.0), ["long"]);
        assert_eq!(too_long(&mut costs(), 5, 3.6), ["long", "short"]);
        assert_eq!(
            too_long(&mut costs(), 0, 0.0),
            [""; 0],
            "nothing is to be done"
        );
    }

    #[test]
    fn effort_shrinks_to_fit_and_grows_back() {
        assert_eq!(rescale(1.0, 5, 10.0, 1.0), 1.0, "more than enough");
        assert_eq!(rescale(1.0, 5, 2.5, 1.0), 0.5);
        assert_eq!(rescale(1.0, 5, 0.1, 1.0), LEAST_SCALE, "never below");
        assert_eq!(
            rescale(0.5, 4, 4.0, 0.5),
            1.0,
            "the first round was only slow by its evidence"
        );
        assert_eq!(rescale(0.5, 0, 0.0, 1.0), 0.5, "the fewest rounds are done");
        assert_eq!(scaled(&Profile::Quick.effort(), 0.2).samples, 3);
    }

    #[test]
    fn seeds_of_rounds_differ() {
        let seeds: std::collections::BTreeSet<u64> = (0..100).map(|round| mix(7, round)).collect();
        assert_eq!(seeds.len(), 100);
        assert_ne!(mix(7, 1), mix(8, 1));
    }
}
