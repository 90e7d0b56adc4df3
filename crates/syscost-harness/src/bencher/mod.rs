//! What a benchmark's function works with: set-up precedes the call, the measured operation is inside it.
//!
//! - `plan`: what precedes the measurement, and what follows it.
//! - `shapes`, `team`, `copies`: what is measured.
//! - `timed`, `sampling`, `core_probes`: the timed pass; `evidence`, `counts`: the other one.

mod background;
mod body;
mod claims;
mod clocked;
mod copies;
mod core_probes;
mod counts;
mod detail;
mod evidence;
mod laps;
mod min_times;
mod pass;
mod plan;
mod sampling;
mod served;
mod shapes;
mod team;
#[cfg(test)]
mod tests;
mod timed;
mod watch;

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use syscost_sys::clock::Clock;

use crate::arguments::ArgumentClaim;
use crate::case::Case;
use crate::cores::Cores;
use crate::expect::{self, Counter, Expect};
use crate::failure::Failure;
use crate::here::Here;
use crate::programs::OwnProgram;
use crate::proof::{Proof, Witness};
use crate::targets::Targets;

pub use clocked::{clocked, clocked_once};
pub use copies::Copied;
use core_probes::CoreProbes;
pub use detail::{Detail, Over};
pub use laps::Laps;
pub use min_times::MinTimes;
pub use pass::{ClockCost, Compares, Effort, Findings, Pass, Situation};
pub use plan::{Outcome, Plan, Shape};
pub use served::Served;
pub use shapes::{EventShare, Kernel, Loop, Observed, Published, Single};
pub use team::{
    Baseline, Difference, Driver, OwnShare, Responder, Stop, TaskGroup, Team, Together,
};

/// Sets up outside, measures inside.
pub struct Bencher<'a> {
    case: &'a Case,
    /// The case whose name is claimed is `case`; this one is measured.
    measured: &'a Case,
    declared: Vec<Expect>,
    arguments: Vec<ArgumentClaim>,
    /// What proves the parameters of the case.
    proofs: Vec<Proof>,
    pass: Pass,
    effort: &'a Effort,
    clock: &'a Clock,
    clock_cost: ClockCost,
    iterations: Option<u64>,
    cpu: u32,
    here: &'a Here,
    cores: &'a Cores,
    /// Probes around what is timed; `None` where nothing is known of the core.
    core_probes: Option<CoreProbes>,
    /// Whether the measuring task has to stay on `cpu`.
    pinned: bool,
    /// Whether the operation is done by several tasks, which preempt each other by design.
    is_team: bool,
    /// Whether samples follow each other without waits for the core in between.
    is_uninterrupted: bool,
    /// Minimum number of samples, however long an operation takes.
    fewest: u32,
    /// Operations in an iteration of several tasks.
    per_iteration: u64,
    /// How long an operation of several tasks takes, in ns, if that is known beforehand.
    known_ns: f64,
    /// CPU time of all tasks per operation, in ns.
    cpu_ns: Option<f64>,
    /// Switches of all tasks per timed operation.
    timed_switches: Option<f64>,
    /// The baselines that were measured beside the operation.
    subtracted: Vec<&'static str>,
    /// Whether other tasks ran on the one CPU of a team that was timed.
    had_background_tasks: bool,
    random: fastrand::Rng,
    findings: Findings,
    operations: u64,
    reports: BTreeMap<&'static str, f64>,
    /// The reports that other programs may have raised.
    shared_counts: Vec<&'static str>,
    /// The witnesses that looked, with the number that each saw, or said why they could not.
    seen: Vec<(&'static Witness, Option<f64>)>,
    /// How many tasks did the operation, as the kernel says.
    tasks: Option<usize>,
    /// Whether the bytes that the rate is made of are claimed to be those that were moved.
    is_rate_claimed: bool,
    /// For each observation, its value and how long it took, in ns.
    observed: Vec<(f64, f64)>,
    /// What is wrong with the benchmark itself.
    broken: Option<String>,
    singles: Histogram<u64>,
    singles_below_zero: u64,
}

impl<'a> Bencher<'a> {
    fn new(case: &'a Case, declared: &[Expect], situation: Situation<'a>) -> Self {
        let proofs = case.proofs();
        let mut own = Proof::counts(&proofs);
        let is_own = |expect: &&Expect| own.iter().any(|own| own.counter == expect.counter);
        let others: Vec<Expect> = declared
            .iter()
            .filter(|one| !is_own(one))
            .copied()
            .collect();
        own.extend(others);
        let arguments = proofs.iter().flat_map(|proof| &proof.arguments);
        Self {
            case,
            measured: situation.instead.unwrap_or(case),
            declared: own,
            arguments: arguments.copied().collect(),
            proofs,
            pass: situation.pass,
            effort: situation.effort,
            clock: situation.clock,
            clock_cost: situation.clock_cost,
            iterations: situation.iterations,
            cpu: situation.cpu,
            here: situation.here,
            cores: situation.cores,
            core_probes: CoreProbes::new(*situation.clock, situation.cpu, situation.cores),
            pinned: true,
            is_team: false,
            is_uninterrupted: false,
            fewest: sampling::MIN_SAMPLES,
            per_iteration: 1,
            known_ns: 0.0,
            cpu_ns: None,
            timed_switches: None,
            subtracted: Vec::new(),
            had_background_tasks: false,
            random: fastrand::Rng::with_seed(situation.seed),
            findings: Findings::default(),
            operations: 0,
            reports: BTreeMap::new(),
            shared_counts: Vec::new(),
            seen: Vec::new(),
            tasks: None,
            is_rate_claimed: false,
            observed: Vec::new(),
            broken: None,
            singles: new_histogram(),
            singles_below_zero: 0,
        }
    }

    /// The case whose name is claimed.
    pub fn case(&self) -> &Case {
        self.case
    }

    /// The case that is measured.
    pub(crate) fn measured(&self) -> &Case {
        self.measured
    }

    /// The calibrated clock.
    pub fn clock(&self) -> &Clock {
        self.clock
    }

    /// What the clock's readings cost.
    pub fn clock_cost(&self) -> ClockCost {
        self.clock_cost
    }

    /// The CPU this process is pinned to.
    pub fn cpu(&self) -> u32 {
        self.cpu
    }

    /// The CPUs this run may use.
    pub fn allowed(&self) -> &'a [u32] {
        &self.here.allowed
    }

    /// What this run measures against and in.
    pub fn targets(&self) -> &'a Targets {
        &self.here.targets
    }

    /// The programs of the user's own studies.
    pub fn programs(&self) -> &'a [OwnProgram] {
        &self.here.programs
    }

    /// Sets the bound up to which values, in the benchmark's unit, look like zero: such a row reads *below resolution*, and this is its bound.
    pub fn resolution(&mut self, least: f64) {
        self.findings.resolution = Some(least);
    }

    /// Random numbers, seeded by the run's seed, the round and the row.
    pub fn random(&mut self) -> &mut fastrand::Rng {
        &mut self.random
    }

    /// Whether this pass times.
    pub fn is_timed(&self) -> bool {
        self.pass == Pass::Timed
    }

    /// Whether this pass writes and compares contents as a whole.
    pub fn compares(&self) -> Compares {
        self.pass.into()
    }

    fn expect(&mut self, expect: Expect) {
        let mut proofs = self.proofs.iter().flat_map(|proof| &proof.expect);
        if let Some(proof) = proofs.find(|proof| proof.counter == expect.counter) {
            if *proof == expect {
                return;
            }
            let what = format!("expects {} twice: a proof does", expect.counter.claim());
            self.broken.get_or_insert(what);
            return;
        }
        self.declared
            .retain(|other| other.counter != expect.counter);
        self.declared.push(expect);
    }

    fn finish(mut self) -> Result<Findings, Failure> {
        if let Some(core_probes) = &self.core_probes {
            self.findings.waited_ns = core_probes.all_waited_ns();
        }
        self.judge_proofs();
        if self.findings.bytes.is_some() && !self.is_rate_claimed {
            let what = "makes a rate of bytes, and does not claim that they were moved";
            return Err(Failure::Broken(what.into()));
        }
        if let Some(what) = self.broken {
            return Err(Failure::Broken(what));
        }
        for expect in &self.declared {
            match expect.counter {
                Counter::Reported(name) => {
                    let total = self.reports.get(name).ok_or_else(|| {
                        Failure::Broken(format!("expects `{name}` but does not report it"))
                    })?;
                    let per_operation = total / self.operations.max(1) as f64;
                    let evidence = expect.judge(per_operation, "benchmark");
                    let evidence =
                        background::excused(evidence, self.shared_counts.contains(&name));
                    self.findings.evidence.push(evidence);
                }
                Counter::CoreCycles => {
                    let expect::Bound::AtLeast(floor) = expect.bound else {
                        let what = "bounds its core cycles otherwise than from below";
                        return Err(Failure::Broken(what.into()));
                    };
                    self.findings.cycle_floor = Some(floor);
                }
                _ => {}
            }
        }
        self.findings.histogram = buckets(&self.singles);
        if self.singles_below_zero > 0 {
            let count = self.singles_below_zero as f64;
            self.detail_over(Over::Sum, "singles_below_zero_count", count);
        }
        Ok(self.findings)
    }
}

/// A histogram of tenths of a nanosecond up to a hundred seconds, with two significant digits.
fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 1_000_000_000_000, 2).expect("constant bounds are valid")
}

/// The bins that are not empty: upper bound in ns, and count.
fn buckets(singles: &Histogram<u64>) -> Vec<(f64, u64)> {
    singles
        .iter_recorded()
        .map(|bin| (bin.value_iterated_to() as f64 / 10.0, bin.count_at_value()))
        .collect()
}
