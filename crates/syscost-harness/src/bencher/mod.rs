//! What a benchmark's function works with: set-up precedes the call, the measured operation is inside it.
//!
//! A benchmark calls exactly one of [`Bencher::iter`], [`Bencher::try_iter`], [`Bencher::kernel`],
//! [`Bencher::kernel_difference`], [`Bencher::batches`], [`Bencher::prepared_batches`],
//! [`Bencher::single`], [`Bencher::together`],
//! [`Bencher::together_difference`], [`Bencher::single_together`], [`Bencher::served`],
//! [`Bencher::copies`] or [`Bencher::observe`], once. The same call serves two passes in two
//! different processes: the timed one takes samples, the evidence one counts, so that no counter
//! disturbs a sample and the code that is counted is the code that is timed.

mod background;
mod begin;
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
mod observed;
mod pass;
mod sampling;
mod served;
mod team;
#[cfg(test)]
mod tests;
mod timed;
mod watch;

use std::{collections::BTreeMap, hint::black_box};

use hdrhistogram::Histogram;
use syscost_sys::{clock::Clock, kernel::Work};

use crate::arguments::ArgumentClaim;
use crate::case::Case;
use crate::cores::Cores;
use crate::expect::{self, Counter, Expect, Manner, at_least};
use crate::failure::Failure;
use crate::here::Here;
use crate::programs::OwnProgram;
use crate::targets::Targets;

use body::{KernelBody, PreparedBody};
pub use clocked::clocked;
use core_probes::CoreProbes;
pub use detail::{Detail, Over};
pub use laps::Laps;
pub use min_times::MinTimes;
pub use pass::{ClockCost, Effort, Findings, Pass, Situation};
pub use served::Served;
pub use team::{Baseline, Driver, Responder, Stop, TaskGroup, Team};

/// Sets up outside, measures inside.
pub struct Bencher<'a> {
    case: &'a Case,
    declared: Vec<Expect>,
    arguments: Vec<ArgumentClaim>,
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
    /// Whether other tasks ran on the one CPU of a team that was timed.
    had_background_tasks: bool,
    random: fastrand::Rng,
    findings: Findings,
    operations: u64,
    measured: bool,
    set_too_late: bool,
    reports: BTreeMap<&'static str, f64>,
    /// The reports that other programs may have raised.
    shared_counts: Vec<&'static str>,
    singles: Histogram<u64>,
    singles_below_zero: u64,
}

impl<'a> Bencher<'a> {
    /// A bencher for one case in one pass.
    pub fn new(case: &'a Case, declared: &[Expect], situation: Situation<'a>) -> Self {
        let mut own = case.expect().to_vec();
        own.extend(declared.iter().filter(|expect| {
            !case
                .expect()
                .iter()
                .any(|own| own.counter == expect.counter)
        }));
        Self {
            case,
            declared: own,
            arguments: Vec::new(),
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
            had_background_tasks: false,
            random: fastrand::Rng::with_seed(situation.seed),
            findings: Findings::default(),
            operations: 0,
            measured: false,
            set_too_late: false,
            reports: BTreeMap::new(),
            shared_counts: Vec::new(),
            singles: new_histogram(),
            singles_below_zero: 0,
        }
    }

    /// The case to measure.
    pub fn case(&self) -> &Case {
        self.case
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

    /// Makes the result a rate: each operation moves this many bytes. To be called before the
    /// measurement, by benchmarks in B/s. For [`Bencher::iter`], [`Bencher::try_iter`],
    /// [`Bencher::kernel`], [`Bencher::batches`], [`Bencher::together`] and [`Bencher::copies`];
    /// the others measure times and refuse.
    pub fn rate(&mut self, bytes: u64) {
        self.set_too_late |= self.measured;
        self.findings.bytes = Some(bytes as f64);
    }

    /// Bytes per operation if the result is a rate; `None` if it is a time.
    pub fn rated(&self) -> Option<f64> {
        self.findings.bytes
    }

    /// Sets the bound up to which values, in the benchmark's unit, look like zero: such a row reads *below resolution*, and this is its bound.
    pub fn resolution(&mut self, least: f64) {
        self.findings.resolution = Some(least);
    }

    /// Makes each iteration of several tasks this many operations. To be called before the
    /// measurement.
    pub fn operations_per_iteration(&mut self, count: u64) {
        self.set_too_late |= self.measured;
        self.per_iteration = count;
    }

    /// Random numbers, seeded by the run's seed, the round and the row.
    pub fn random(&mut self) -> &mut fastrand::Rng {
        &mut self.random
    }

    /// Whether this pass times.
    pub fn is_timed(&self) -> bool {
        self.pass == Pass::Timed
    }

    /// Measures an operation that cannot fail.
    ///
    /// The loop is unrolled eightfold, so its own cost is an eighth of a cycle or so per operation: suitable for system
    /// calls and similar operations. An operation of few cycles is a [`Bencher::kernel`].
    pub fn iter<T>(&mut self, mut op: impl FnMut() -> T) -> Result<(), Failure> {
        self.batches(1, move |n| {
            for _ in 0..n / 8 {
                black_box(op());
                black_box(op());
                black_box(op());
                black_box(op());
                black_box(op());
                black_box(op());
                black_box(op());
                black_box(op());
            }
            for _ in 0..n % 8 {
                black_box(op());
            }
            Ok(())
        })
    }

    /// Measures an operation that can fail. Its first failure ends the measurement, and its row reports it: a failed
    /// operation never counts as a fast one.
    pub fn try_iter<T, E: std::fmt::Display>(
        &mut self,
        mut op: impl FnMut() -> Result<T, E>,
    ) -> Result<(), Failure> {
        let mut done: u64 = 0;
        self.batches(1, move |n| {
            for _ in 0..n {
                if let Err(cause) = op().map(black_box) {
                    return Err(Failure::Failed(format!(
                        "operation {} failed: {cause}",
                        done + 1
                    )));
                }
                done += 1;
            }
            Ok(())
        })
    }

    /// Measures an assembly kernel, whose checksum is compared after every batch. A rate must refer to the bytes that it moves.
    pub fn kernel(&mut self, kernel: &impl Work) -> Result<(), Failure> {
        let moved = kernel.bytes_per_operation().map(|bytes| bytes as f64);
        if let Some(rate) = self.findings.bytes.filter(|rate| moved != Some(*rate)) {
            let what = format!("makes a rate of {rate} bytes of a kernel that moves {moved:?}");
            return Err(Failure::Broken(what));
        }
        self.expect(at_least(Counter::CoreCycles, kernel.floor_cycles()));
        self.measure(kernel.operations_per_iteration(), KernelBody::new(kernel))?;
        self.claim("checksum of every batch", "equal", "equal", "kernel", true);
        Ok(())
    }

    /// Measures `body(iterations)`, which does exactly `iterations * per_iteration` operations.
    pub fn batches(
        &mut self,
        per_iteration: u64,
        body: impl FnMut(u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.measure(per_iteration, body)
    }

    /// Like [`Bencher::batches`], with an untimed `prepare(iterations)` before each batch, whose
    /// faults and calls are not counted: pages that were given back, mappings to be removed. A
    /// batch has at most this many iterations, at least two: as many as can be prepared together.
    /// None of them is timed individually.
    pub fn prepared_batches(
        &mut self,
        per_iteration: u64,
        max_iterations: u64,
        prepare: impl FnMut(u64) -> Result<(), Failure>,
        body: impl FnMut(u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if max_iterations < 2 {
            return Err(Failure::Broken("can do no work twice".into()));
        }
        self.measure(
            per_iteration,
            PreparedBody::new(max_iterations, prepare, body),
        )
    }

    /// Measures how much more `kernel` costs than `baseline`, a kernel of the same instructions with friendlier data, for each
    /// event that happens in a `share` of the operations, e.g. a branch misprediction. Batches of both alternate.
    pub fn kernel_difference(
        &mut self,
        baseline: &impl Work,
        kernel: &impl Work,
        share: f64,
    ) -> Result<(), Failure> {
        self.begin_times(Manner::Batches, "kernel_difference")?;
        let per_iteration = kernel.operations_per_iteration();
        if per_iteration != baseline.operations_per_iteration() {
            return Err(Failure::Broken(
                "compares kernels of different length".into(),
            ));
        }
        let mut body = KernelBody::new(kernel);
        match self.pass {
            Pass::Timed => {
                self.time_difference(per_iteration, KernelBody::new(baseline), body, share)?;
            }
            Pass::Evidence => self.count_batches(per_iteration, &mut body)?,
        }
        self.claim("checksum of every batch", "equal", "equal", "kernel", true);
        Ok(())
    }

    /// Measures operations individually, each after an untimed `prepare`: first calls, cold caches. The timer's own cost,
    /// measured by an empty pair after the same preparation, is subtracted; the raw values are kept.
    pub fn single(
        &mut self,
        mut prepare: impl FnMut() -> Result<(), Failure>,
        mut op: impl FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.begin_times(Manner::Singles, "single")?;
        match self.pass {
            Pass::Timed => self.time_singles(&mut (), |()| prepare(), |()| op()),
            Pass::Evidence => self.count_singles(&mut prepare, &mut op),
        }
    }

    /// Adds an expectation that is known only at run time, before the measurement: afterwards it would never be checked.
    pub fn expect(&mut self, expect: Expect) {
        self.set_too_late |= self.measured;
        self.declared
            .retain(|other| other.counter != expect.counter);
        self.declared.push(expect);
    }

    /// Number of operations that this pass has made so far.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Returns the findings, with the benchmark's own reports judged.
    pub fn finish(mut self) -> Result<Findings, Failure> {
        if let Some(core_probes) = &self.core_probes {
            self.findings.waited_ns = core_probes.all_waited_ns();
        }
        if !self.measured {
            return Err(Failure::Broken("measured nothing".into()));
        }
        if self.set_too_late {
            return Err(Failure::Broken(
                "expects or sets something only after it measured".into(),
            ));
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
