//! The shuffled rounds, the stop rule and the budget.

use std::time::Duration;

use super::{Event, Observer, Profile, Session, SessionError};
use crate::bencher::{Effort, Pass};
use crate::benchmark::{Benchmark, Setup};
use crate::worker::{Job, WorkerError};

/// Rounds of a benchmark whose set-up is dear: the fewest that give an interval, each with more samples.
const DEAR_LOOKS: [u32; 1] = [6];

/// How much longer a round of a dear benchmark is.
const DEAR_FACTOR: u32 = 2;

/// Set-up of one benchmark may take this share of the budget.
const DEAR_SHARE: f64 = 0.5;

/// Effort is never scaled below this to fit a budget.
const LEAST_SCALE: f64 = 0.2;

/// Kept back from the budget for the last worker and the document.
const RESERVE: Duration = Duration::from_millis(300);

impl Session<'_> {
    /// Measures until every row is settled, the budget is spent or Ctrl-C arrives. Whatever is measured by then stays.
    ///
    /// # Errors
    /// When no worker can be started at all.
    pub fn measure(&mut self, observer: &mut dyn Observer) -> Result<(), SessionError> {
        let profile = Profile::from_name(&self.header.config.profile).unwrap_or_default();
        self.skip_what_cannot_fit();
        observer.event(Event::Begin {
            rows: self.states.len(),
            journal: self.journal_path().unwrap_or(std::path::Path::new("")),
        });
        let looks = profile.looks();
        let mut scale = 1.0;
        for round in 0..looks[looks.len() - 1] {
            let before = self.elapsed();
            match self.round(round, scale, profile, observer) {
                Ok(()) => {}
                Err(WorkerError::Interrupted) => return Ok(()),
                Err(error) => return Err(SessionError::Worker(error)),
            }
            self.settle(round + 1, looks);
            if !self.states.iter().any(|state| state.is_active()) || self.is_spent(round + 1) {
                return Ok(());
            }
            scale = self.rescaled(scale, round + 1, (self.elapsed() - before).as_secs_f64());
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
    ) -> Result<(), WorkerError> {
        let mut order: Vec<&'static Benchmark> = Vec::new();
        for state in self.states.iter().filter(|state| state.is_active()) {
            if !order.iter().any(|known| known.id == state.row.benchmark.id) {
                order.push(state.row.benchmark);
            }
        }
        let mut random = fastrand::Rng::with_seed(mix(self.header.config.seed, u64::from(round)));
        random.shuffle(&mut order);
        let count = order.len();
        for (index, benchmark) in order.into_iter().enumerate() {
            // Every job draws its numbers whether it runs or not, so that a resumed run shuffles like an unbroken one.
            let mut random = fastrand::Rng::with_seed(random.u64(..));
            if self.is_spent(round) {
                return Ok(());
            }
            let rounds = self.header.config.min_rounds;
            let done =
                (f64::from(round) + index as f64 / count as f64) / f64::from(rounds.max(round + 1));
            observer.event(Event::Working {
                benchmark: benchmark.id,
                round: round + 1,
                rounds: rounds.max(round + 1),
                done,
                left: self.time_left(done),
            });
            let mut effort = profile.effort();
            if matches!(benchmark.setup, Setup::Dear { .. }) {
                effort.samples *= DEAR_FACTOR;
                effort.case_ns *= f64::from(DEAR_FACTOR);
            }
            let passes: &[Pass] = if round == 0 {
                &[Pass::Evidence, Pass::Timed]
            } else {
                &[Pass::Timed]
            };
            for pass in passes {
                self.job(
                    benchmark,
                    *pass,
                    round,
                    scaled(&effort, scale),
                    &mut random,
                    observer,
                )?;
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
            seed: random.u64(..1 << 53),
            stack_offset: random.usize(..4096),
            parent: std::process::id(),
        };
        let padding = random.usize(..4096);
        let known = (round, pass, benchmark.id.to_owned());
        if job.cases.is_empty() || self.done.contains(&known) {
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

    /// At a look, rows whose interval is narrow enough need no more rounds.
    fn settle(&mut self, rounds: u32, looks: &[u32]) {
        for state in &mut self.states {
            let dear = matches!(state.row.benchmark.setup, Setup::Dear { .. });
            let looks = if dear { &DEAR_LOOKS } else { looks };
            let last = rounds >= looks[looks.len() - 1];
            state.settled |= last || (looks.contains(&rounds) && state.has_converged());
        }
    }

    /// Whether the budget ends the run. The profile's own budget lets the fewest rounds finish all the same.
    fn is_spent(&self, finished_rounds: u32) -> bool {
        let enough = self.header.strict_budget || finished_rounds >= self.header.config.min_rounds;
        enough && self.elapsed() + RESERVE >= self.budget()
    }

    fn budget(&self) -> Duration {
        Duration::from_secs_f64(self.header.config.budget_s)
    }

    /// Effort for the rounds to come, so that the fewest rounds fit into the budget.
    fn rescaled(&self, scale: f64, rounds: u32, last_round_s: f64) -> f64 {
        let to_go = self.header.config.min_rounds.saturating_sub(rounds);
        if to_go == 0 {
            return scale;
        }
        let left = self
            .budget()
            .saturating_sub(self.elapsed() + RESERVE)
            .as_secs_f64();
        // The first round carries the evidence pass as well, so its length is an upper bound.
        (scale * left / (last_round_s * f64::from(to_go))).clamp(LEAST_SCALE, 1.0)
    }

    fn time_left(&self, done: f64) -> Duration {
        let elapsed = self.elapsed().as_secs_f64();
        let by_pace = if done > 0.0 {
            elapsed / done - elapsed
        } else {
            f64::INFINITY
        };
        let by_budget = self.header.config.budget_s - elapsed;
        Duration::from_secs_f64(by_pace.min(by_budget).max(0.0))
    }

    fn skip_what_cannot_fit(&mut self) {
        let budget = self.header.config.budget_s;
        for state in &mut self.states {
            let Setup::Dear { seconds } = state.row.benchmark.setup else {
                continue;
            };
            let rounds = f64::from(DEAR_LOOKS[0]);
            if seconds * rounds > budget * DEAR_SHARE {
                state.skipped = Some(format!(
                    "its set-up takes about {seconds:.0} s in each of {rounds} rounds, more than half of the budget \
                     of {budget:.0} s; give it more with --budget"
                ));
            }
        }
    }
}

fn scaled(effort: &Effort, scale: f64) -> Effort {
    Effort {
        samples: (f64::from(effort.samples) * scale).ceil() as u32,
        warm_up_ns: effort.warm_up_ns * scale,
        case_ns: effort.case_ns * scale,
        batch_ns: effort.batch_ns,
    }
}

/// One seed from two, by the finaliser of SplitMix64.
fn mix(seed: u64, salt: u64) -> u64 {
    let mut z = seed.wrapping_add(salt.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
