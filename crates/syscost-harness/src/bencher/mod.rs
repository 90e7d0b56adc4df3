//! What a benchmark's function works with: set-up precedes the call, the measured operation is inside it.
//!
//! - `plan`: what precedes the measurement, and what follows it.
//! - `shapes`, `published`, `team`, `copies`: what is measured.
//! - `timed`, `sampling`, `core_probes`: the timed pass; `evidence`, `counts`: the other one.

mod background;
mod body;
mod claims;
mod clocked;
mod copies;
mod core_probes;
mod counts;
mod detail;
mod disturbances;
mod evidence;
mod executions;
mod findings;
mod laps;
mod min_times;
mod plan;
mod published;
mod sampling;
mod served;
mod shapes;
mod singles;
mod team;
#[cfg(test)]
mod tests;
mod timed;
mod watch;

use std::cell::Cell;
use std::time::{Duration, Instant};

use syscost_sys::clock::Clock;
use syscost_sys::core_probe::{Alone, Probe};

use crate::case::Case;
use crate::clock::ClockCost;
use crate::commands::Command;
use crate::cores::Cores;
use crate::programs::OwnProgram;
use crate::proof::{Proof, Witness};
use crate::targets::Targets;
use crate::testbed::Testbed;

pub use crate::pass::{Compares, Pass};
pub use crate::profile::Effort;
pub use clocked::{OnceTimer, clocked};
pub use copies::Copied;
pub(crate) use disturbances::WAITED_SHARE;
pub use executions::{Execution, Executions, Often};
pub use findings::{Detail, Findings, Over};
pub use laps::Laps;
pub use min_times::MinTimes;
pub use plan::{Outcome, Plan, Shape};
pub use published::{Counted, Marked, Published, Ran};
pub use served::Served;
pub use shapes::{EventShare, Kernel, Loop, Observed, Single};
use singles::Singles;
pub use team::{
    Baseline, Difference, Driver, OwnShare, Responder, Stop, TaskGroup, Team, Together,
};

/// What is given to a measurement: the case, and the circumstances.
pub struct Situation<'a> {
    /// The case whose name is claimed.
    pub case: &'a Case,
    /// What is measured instead of the case, so that its evidence is put to the test.
    pub instead: Option<&'a Case>,
    /// The pass to make.
    pub pass: Pass,
    /// Maximum time of the case.
    pub time_limit: Duration,
    /// Whether the calls of what is timed are audited once all samples are taken.
    pub is_audited: bool,
    /// How much to measure.
    pub effort: &'a Effort,
    /// The calibrated clock.
    pub clock: &'a Clock,
    /// What the clock costs.
    pub clock_cost: ClockCost,
    /// Operations per sample if an earlier round found them, so that all rounds take the same.
    pub iterations: Option<u64>,
    /// The CPU this process is pinned to.
    pub cpu: u32,
    /// The CPUs this run may use, and what it measures against.
    pub here: &'a Testbed,
    /// What probes of cores show while these are undisturbed.
    pub cores: &'a Cores,
    /// Seed of this round.
    pub seed: u64,
}

/// What a [`Plan`] and its [`Outcome`] have in common: what is given, and what has been found so
/// far.
pub struct Bencher<'a> {
    given: Situation<'a>,
    begun: Instant,
    random: fastrand::Rng,
    /// What proves the parameters of the case.
    proofs: Vec<Proof>,
    findings: Findings,
    /// Of each sample, whether its probes found the core shared: a verdict for this process, whose ratios are kept.
    shared: Vec<bool>,
    singles: Singles,
    /// The witnesses that looked, with the number that each saw, or said why they could not.
    observations: Vec<(&'static Witness, Option<f64>)>,
    /// Whether contents are compared as a whole, which is not done where it is timed.
    has_compared: Cell<bool>,
}

impl<'a> Bencher<'a> {
    fn new(given: Situation<'a>) -> Self {
        Self {
            begun: Instant::now(),
            random: fastrand::Rng::with_seed(given.seed),
            proofs: given.case.proofs(),
            findings: Findings::default(),
            shared: Vec::new(),
            singles: Singles::new(),
            observations: Vec::new(),
            has_compared: Cell::default(),
            given,
        }
    }

    /// The case whose name is claimed.
    pub fn case(&self) -> &'a Case {
        self.given.case
    }

    /// The case that is measured.
    pub(crate) fn measured(&self) -> &'a Case {
        self.given.instead.unwrap_or(self.given.case)
    }

    /// The calibrated clock.
    pub fn clock(&self) -> &'a Clock {
        self.given.clock
    }

    /// Maximum time of an audit: half of what the case may take, as others are in it as well; a quarter
    /// where it follows samples.
    pub fn audit_limit(&self) -> Duration {
        match self.given.pass {
            Pass::Evidence => self.given.time_limit / 2,
            Pass::Timed => self.given.time_limit / 4,
        }
    }

    /// What the clock's readings cost.
    pub fn clock_cost(&self) -> ClockCost {
        self.given.clock_cost
    }

    /// The CPU this process is pinned to.
    pub fn cpu(&self) -> u32 {
        self.given.cpu
    }

    /// The CPUs this run may use.
    pub fn allowed(&self) -> &'a [u32] {
        &self.given.here.allowed
    }

    /// What this run measures against and in.
    pub fn targets(&self) -> &'a Targets {
        &self.given.here.targets
    }

    /// The programs of the user's own studies.
    pub fn programs(&self) -> &'a [OwnProgram] {
        &self.given.here.programs
    }

    /// The commands that `syscost time` measures.
    pub fn commands(&self) -> &'a [Command] {
        &self.given.here.commands
    }

    /// Random numbers, seeded by the run's seed, the round and the row.
    pub fn random(&mut self) -> &mut fastrand::Rng {
        &mut self.random
    }

    /// Whether this pass times.
    pub fn is_timed(&self) -> bool {
        self.given.pass == Pass::Timed
    }

    /// Whether witnesses look that a sample need not stand: in the evidence pass, and in the timed process
    /// that is audited.
    pub fn looks(&self) -> bool {
        self.given.is_audited || !self.is_timed()
    }

    /// Whether this pass writes and compares contents as a whole.
    pub fn compares(&self) -> Compares {
        self.has_compared.set(true);
        self.given.pass.into()
    }

    /// Total time that all samples of this case should take, in ns: how long a benchmark should run
    /// that observes its values itself and makes each of them from many.
    pub fn case_ns(&self) -> f64 {
        self.given.effort.case_ns
    }

    /// What probes of a CPU's core show while it does no other work, as the run's noise probe
    /// found; for a CPU that was not observed, the values of another core of the same kind. `None`
    /// where nothing is known.
    pub fn alone_core(&self, cpu: u32) -> Option<Alone> {
        self.given.cores.alone_or_alike(cpu)
    }

    /// The probe by which the run probes cores.
    pub fn core_probe(&self) -> Probe {
        self.given.cores.probe(*self.given.clock)
    }
}
