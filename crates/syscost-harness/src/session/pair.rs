//! Two runs of the same rows, measured alternately, so that the machine's drift affects both alike.

use std::sync::atomic::AtomicBool;

use syscost_results::estimate::frequency;

use super::budget::{Pace, drop_rows, postpone};
use super::order::order;
use super::plan::random_of;
use super::rows::RowState;
use super::{Event, Finished, Observer, Options, Profile, Session, SessionError, new_id};
use crate::catalogue::Row;
use crate::worker::{Interrupted, Launcher, Program};

/// Two runs in progress: A, measured as its options say, and B, by another program or in another environment.
///
/// A's and B's rounds of a benchmark are adjacent, A B in one round, B A in the next: a drift of
/// the machine that is slow compared with one worker's life cancels. Both use the same shuffles,
/// paddings and offsets.
pub struct Pair<'a> {
    a: Session<'a>,
    b: Session<'a>,
}

impl<'a> Pair<'a> {
    /// Prepares two runs of these rows; `options` are those of A. Neither has a journal: a pair
    /// cannot be resumed. The budget is shared by both.
    ///
    /// # Errors
    /// As [`Session::new`].
    pub fn new(
        rows: Vec<Row>,
        options: &Options,
        program_b: Program,
        observer: &mut dyn Observer,
        interrupted: &'a AtomicBool,
    ) -> Result<Self, SessionError> {
        let options = Options {
            journal_folder: None,
            ..options.clone()
        };
        let mut a = Session::new(rows, &options, observer, interrupted)?;
        if options.budget.is_none() {
            a.header.config.budget_s *= 2.0;
        }
        a.is_of_pair = true;
        let b = a.twin(program_b, options.version);
        Ok(Self { a, b })
    }

    /// Measures until every row of both is settled, the budget is spent or Ctrl-C arrives.
    /// Everything measured by then is kept.
    pub fn measure(&mut self, observer: &mut dyn Observer) {
        self.a.skip_what_cannot_fit(0.5);
        self.b.skip_what_cannot_fit(0.5);
        observer.event(Event::Begin {
            rows: 2 * self.a.states.len(),
            journal: None,
        });
        // An interrupted pair keeps what it has.
        let (Ok(()) | Err(Interrupted)) = self.rounds(observer);
    }

    fn rounds(&mut self, observer: &mut dyn Observer) -> Result<(), Interrupted> {
        let profile = Profile::from_name(&self.a.header.config.profile).unwrap_or_default();
        let seed = self.a.header.config.seed;
        let mut pace = Pace::FULL;
        for round in 0..profile.max_rounds() {
            let mut random = random_of(seed, round);
            let order = order(&[&self.a, &self.b], round, &mut random);
            let count = order.len();
            for (index, benchmark) in order.into_iter().enumerate() {
                if self.a.is_spent() {
                    return Ok(());
                }
                let share = index as f64 / count as f64;
                observer.event(self.a.working(benchmark, round, share));
                let seed = random.u64(..);
                if self.a.choose_cpu() {
                    self.b.cores = self.a.cores.clone();
                    self.b.invalidate();
                }
                self.b.cpu = self.a.cpu;
                self.b.usable = self.a.usable.clone();
                self.b.measurable = self.a.measurable.clone();
                self.b.header.config.cpus = self.a.header.config.cpus.clone();
                self.b.header.noise = self.a.header.noise.clone();
                let mut sides = [&mut self.a, &mut self.b];
                if b_is_first(round) {
                    sides.reverse();
                }
                for side in sides {
                    side.step(benchmark, round, pace, profile, seed, observer)?;
                }
                if round == 0 {
                    drop_rows(&mut [&mut self.a, &mut self.b], 0);
                }
            }
            self.settle(profile);
            let mut states = self.a.states.iter().chain(&self.b.states);
            if !states.any(|state| state.is_active()) || self.a.is_spent() {
                return Ok(());
            }
            drop_rows(&mut [&mut self.a, &mut self.b], round + 1);
            pace = self.a.pace(pace, round + 1, &[&self.a, &self.b]);
            postpone(&mut [&mut self.a, &mut self.b], round + 1, profile);
        }
        Ok(())
    }

    /// A row needs no more rounds once both sides need none: they are compared round by round.
    fn settle(&mut self, profile: Profile) {
        // One frequency for both: separate ones would add a difference of their own.
        let states = self.a.states.iter().chain(&self.b.states);
        let known = frequency::known(states.flat_map(|state| &state.rounds));
        let usual = frequency::usual(known);
        (self.a.common_ghz, self.b.common_ghz) = (usual, usual);
        self.a.settle(profile);
        self.b.settle(profile);
        for (a, b) in self.a.states.iter_mut().zip(&mut self.b.states) {
            let is_out = |state: &RowState| state.failure.is_some() || state.skipped.is_some();
            let alone = is_out(a) || is_out(b);
            let settled = (a.settled && b.settled) || alone;
            a.settled = settled;
            b.settled = settled;
        }
    }

    /// The documents of A and B.
    pub fn finish(self, keep_samples: bool) -> [Finished; 2] {
        [self.a.finish(keep_samples), self.b.finish(keep_samples)]
    }
}

/// A B, B A, A B, B A, and so on: a steady drift cancels over each two rounds, and either side is
/// first as often in even rounds as in odd ones, which begin with other benchmarks.
fn b_is_first(round: u32) -> bool {
    round.count_ones() % 2 == 1
}

impl<'a> Session<'a> {
    /// A run of the same rows on the same CPU with the same clock, measured by another program.
    fn twin(&self, program: Program, version: &str) -> Self {
        let mut header = self.header.clone();
        header.id = new_id(jiff::Timestamp::now());
        header.tool_version = version.to_owned();
        header.measured_by(&program);
        Self {
            settings: self.settings.clone(),
            states: self.states.iter().map(|state| state.reset()).collect(),
            replay: Vec::new(),
            here: self.here.clone(),
            launcher: Launcher::new(program, self.launcher.time_limit(), self.interrupted),
            clock: self.clock.clone(),
            cpu: self.cpu,
            allowed: self.allowed.clone(),
            usable: self.usable.clone(),
            measurable: self.measurable.clone(),
            cores: self.cores.clone(),
            known_cores: self.known_cores.clone(),
            kept: self.kept.clone(),
            common_ghz: None,
            is_of_pair: true,
            may_defer: false,
            chosen: self.chosen,
            started_in_ms: Vec::new(),
            beside_s: Vec::new(),
            times: self.times.clone(),
            earlier: self.earlier,
            begun: self.begun,
            interrupted: self.interrupted,
            journal: None,
            header,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_drift_cancels_over_two_rounds() {
        // Positions in time of each side over two rounds.
        let (mut a, mut b) = (0, 0);
        let mut at = 0;
        for round in 0..2 {
            for first in [true, false] {
                at += 1;
                if first == b_is_first(round) {
                    b += at;
                } else {
                    a += at;
                }
            }
        }
        assert_eq!(a, b);
        let b_first = |rounds: [u32; 4]| rounds.into_iter().filter(|r| b_is_first(*r)).count();
        assert_eq!((b_first([0, 2, 4, 6]), b_first([1, 3, 5, 7])), (2, 2));
    }
}
