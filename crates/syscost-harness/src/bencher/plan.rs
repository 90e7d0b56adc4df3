//! How a benchmark is measured: it sets up, says what it needs to by a [`Plan`], and has one
//! [`Shape`] measured, which uses the plan up. What it claims afterwards it claims of the
//! [`Outcome`], which it returns. So it measures exactly once, and nothing is set too late or
//! claimed too early.

use std::collections::BTreeMap;
use std::mem;
use std::ops::{Deref, DerefMut};

use syscost_sys::Unsupported;
use syscost_sys::counters::{SchedStat, TaskId, Usage};
use syscost_sys::raw::Sysno;

use super::Situation;
use super::core_probes::CoreProbes;
use super::watch::{Moment, Waited, Waits};
use super::{Bencher, Findings};
use crate::arguments::{Argument, ArgumentClaim, ArgumentValue};
use crate::expect::{self, Bound, Counter, Expect, Manner, SYSCALL_FLOOR_CYCLES};
use crate::failure::Failure;
use crate::pass::Pass;
use crate::proof::Proof;

/// Minimum number of samples of a case, however long its operation takes.
pub(super) const MIN_SAMPLES: u32 = 5;

/// What precedes a measurement, and what measures.
pub struct Plan<'a> {
    pub(super) bencher: Bencher<'a>,
    /// The benchmark that measures.
    pub(crate) id: &'static str,
    /// What must be counted.
    pub(super) declared: Vec<Expect>,
    pub(super) arguments: Vec<ArgumentClaim>,
    /// Minimum number of samples, however long an operation takes.
    pub(super) fewest: u32,
    /// How long an operation of several tasks takes, in ns, if that is known beforehand.
    pub(super) known_ns: f64,
    /// Probes around what is timed; `None` where nothing is known of the core.
    pub(super) core_probes: Option<CoreProbes>,
    /// How long the tasks of the operation wait for CPUs that others have.
    pub(super) waits: Waits,
    /// Tasks that run on the measuring CPU because the row's name says so.
    pub(super) company: Vec<SchedStat>,
    /// Whether what others take is the value.
    pub(super) is_of_others: bool,
    /// Whether nothing is declared of whether it sleeps, and whether it did while samples were taken.
    pub(super) is_untold: bool,
    pub(super) has_slept: bool,
    /// Since when, and how long so far, they do in the timed stretches of a sample.
    pub(super) stretch: Option<Moment>,
    pub(super) waited: Waited,
    /// How many interrupts the CPU had in a ns while samples were taken, where the kernel counts them.
    pub(super) interrupts_per_ns: Option<f64>,
    /// The CPU that the measuring task is on.
    pub(super) cpu: u32,
    /// Whether it has to stay there.
    pub(super) pinned: bool,
    /// Whether the operation is done by several tasks, which preempt each other by design.
    pub(super) is_team: bool,
    /// Whether samples follow each other without waits for the core in between.
    pub(super) is_uninterrupted: bool,
    pub(super) done: Done,
}

/// What was done to measure.
#[derive(Default)]
pub(super) struct Done {
    /// Operations, untimed ones included.
    pub(super) operations: u64,
    /// The baselines that were measured beside the operation.
    pub(super) subtracted: Vec<&'static str>,
    /// CPU time of all tasks per operation, in ns.
    pub(super) cpu_ns: Option<f64>,
    /// Switches of all tasks per timed operation.
    pub(super) timed_switches: Option<f64>,
    /// How many tasks did the operation, as the kernel says.
    pub(super) tasks: Option<usize>,
    /// Whether the bytes that the rate is made of are claimed to be those that were moved.
    pub(super) is_rate_claimed: bool,
    /// For each observation, its value and how long it took, in ns.
    pub(super) observed: Vec<(f64, f64)>,
    /// What the kernel counted around timed batches, while these are counted.
    pub(super) timed: Option<Timed>,
    /// What a system call costs at least, in core cycles, if it was tried.
    pub(super) call_cycles: Option<f64>,
}

/// What the kernel counted around the timed batches of a task.
#[derive(Default)]
pub(super) struct Timed {
    pub(super) used: Usage,
    pub(super) iterations: u64,
    pub(super) batches: u64,
    pub(super) ns: f64,
}

/// What has been measured, and what the operation itself has seen meanwhile.
pub struct Outcome<'a, T = ()> {
    bencher: Bencher<'a>,
    declared: Vec<Expect>,
    pub(super) done: Done,
    reports: BTreeMap<&'static str, f64>,
    output: T,
}

/// What is measured, and how: a [`Loop`](super::Loop) of operations, a [`Kernel`](super::Kernel) of
/// assembly, [`Single`](super::Single) operations, what several tasks do
/// [`Together`](super::Together), simultaneous [`Copied`](super::Copied) operations, or
/// [`Observed`](super::Observed) values.
///
/// The same shape serves two passes in two different processes: the timed one takes samples, the
/// evidence one counts, so that no counter disturbs a sample and the code that is counted is the
/// code that is timed.
pub trait Shape {
    /// What the operation itself has seen: its tasks' own counts.
    type Output;

    /// How it is measured, from which follows what is expected of it.
    #[doc(hidden)]
    const MANNER: Manner;

    /// Whether its samples are times of operations, so that they can be converted to a rate.
    #[doc(hidden)]
    const MAY_BE_RATE: bool = false;

    /// The number of CPUs that its tasks may use simultaneously.
    #[doc(hidden)]
    fn cpus(&self, _: &Plan) -> Result<usize, Failure> {
        Ok(1)
    }

    /// Takes samples.
    #[doc(hidden)]
    fn time(self, plan: &mut Plan) -> Result<Self::Output, Failure>;

    /// Counts what the operation does.
    #[doc(hidden)]
    fn count(self, plan: &mut Plan) -> Result<Self::Output, Failure>;
}

impl<'a> Plan<'a> {
    /// A plan for one case in one pass, of a benchmark that declares this.
    pub fn new(declared: &[Expect], given: Situation<'a>) -> Self {
        let (cpu, clock, cores) = (given.cpu, given.clock, given.cores);
        let bencher = Bencher::new(given);
        let mut plan = Self {
            id: "",
            declared: declared.to_vec(),
            arguments: Vec::new(),
            fewest: MIN_SAMPLES,
            known_ns: 0.0,
            core_probes: CoreProbes::new(*clock, cpu, cores),
            waits: Waits::alone(*clock, false, Vec::new()),
            company: Vec::new(),
            is_of_others: false,
            is_untold: false,
            has_slept: false,
            stretch: None,
            waited: Waited::default(),
            interrupts_per_ns: None,
            cpu,
            pinned: true,
            is_team: false,
            is_uninterrupted: false,
            done: Done::default(),
            bencher,
        };
        for proof in &plan.bencher.proofs {
            plan.arguments.extend(&proof.arguments);
        }
        for proven in Proof::counts(&plan.bencher.proofs) {
            plan.expect(proven);
        }
        plan
    }

    /// The id of the benchmark that measures: many functions may be measured by one.
    pub fn id(&self) -> &'static str {
        self.id
    }

    /// Measures this.
    pub fn measure<S: Shape>(mut self, shape: S) -> Result<Outcome<'a, S::Output>, Failure> {
        let cpus = shape.cpus(&self)?;
        self.begin(S::MANNER, S::MAY_BE_RATE, cpus)?;
        let output = match self.given.pass {
            Pass::Timed => shape.time(&mut self)?,
            Pass::Evidence => shape.count(&mut self)?,
        };
        Ok(self.ended(S::MANNER).with_output(output))
    }

    /// What has been measured. (This and [`Plan::begin`] are compiled once, [`Plan::measure`] for each shape.)
    fn ended(mut self, manner: Manner) -> Outcome<'a> {
        if self.is_timed() {
            self.explain_others();
        }
        // The others claim what the kernel says of each of theirs.
        if !manner.is_together() && manner != Manner::Copies {
            self.claim_alone();
        }
        if let Some(core_probes) = &self.core_probes {
            self.bencher.findings.waited_ns = core_probes.all_waited_ns();
        }
        Outcome {
            bencher: self.bencher,
            declared: self.declared,
            done: self.done,
            reports: BTreeMap::new(),
            output: (),
        }
    }

    /// Begins to measure tasks that may use this many CPUs simultaneously: completes the
    /// expectations.
    fn begin(&mut self, manner: Manner, may_be_rate: bool, cpus: usize) -> Result<(), Failure> {
        if self.findings.bytes.is_some() && !may_be_rate {
            let what = "sets a rate of what gives no times of operations";
            return Err(Failure::Broken(what.into()));
        }
        self.findings.observed = manner == Manner::Observations;
        self.respect_proofs()?;
        if let Some(expect) = self.find(|counter| !manner.counts(counter)) {
            let what = format!(
                "expects {}, which are not counted of its shape",
                expect.counter.claim()
            );
            return Err(Failure::Broken(what));
        }
        self.is_team = manner.is_together();
        self.declared = expect::complete(&self.declared, manner, cpus);
        self.try_a_call();
        // How long a copy waits shows in how far its window overlaps with the others'.
        let switches = self.find(|counter| counter == Counter::VoluntarySwitches);
        self.is_untold = manner == Manner::Observations && switches.is_none();
        let may_block = self.is_untold || self.may_block() && manner != Manner::Copies;
        let company = mem::take(&mut self.company);
        self.waits = Waits::alone(*self.given.clock, may_block, company);
        // On one CPU nothing sleeps: there the next task runs.
        self.is_uninterrupted |= manner == Manner::Together && cpus > 1 && self.must_sleep();
        Ok(())
    }

    /// Adds an expectation that is known only at run time, in place of one of the same count. What
    /// proves a parameter it may narrow, e.g. to one of two counts; it must not permit more.
    pub fn expect(&mut self, expect: Expect) {
        self.declared
            .retain(|other| other.counter != expect.counter);
        self.declared.push(expect);
    }

    /// Fails if something is expected that a proof does not permit.
    pub(super) fn respect_proofs(&self) -> Result<(), Failure> {
        let mut proofs = self.proofs.iter().flat_map(|proof| &proof.expect);
        let permits_more = |proof: &&Expect| {
            let declared = self.find(|counter| counter == proof.counter);
            declared.is_some_and(|declared| !declared.bound.is_within(proof.bound))
        };
        match proofs.find(permits_more) {
            None => Ok(()),
            Some(proof) => Err(Failure::Broken(format!(
                "expects other {} than its proof does",
                proof.counter.claim()
            ))),
        }
    }

    /// Claims what an argument is in every `call` of the operation that the measuring task makes;
    /// the audit records the arguments. A preparation before all operations may make such calls as
    /// well; a preparation of each single operation must not.
    pub fn expect_argument(&mut self, call: Sysno, argument: Argument, given: ArgumentValue) {
        self.arguments.push(ArgumentClaim {
            call,
            argument,
            given,
        });
    }

    /// Makes the result a rate: each operation moves this many bytes. For benchmarks in B/s whose
    /// shape gives times of operations; the others refuse.
    pub fn rate(&mut self, bytes: u64) {
        self.findings.bytes = Some(bytes as f64);
    }

    /// Announces that an operation of several tasks takes about this long, in ns: of slow ones
    /// fewer are counted.
    pub fn takes_about(&mut self, ns: f64) {
        self.known_ns = ns;
    }

    /// Takes this many results in a process if more of them take long, as where each fills much
    /// memory: with one and six processes there are six.
    pub fn may_take_few(&mut self, fewest: u32) {
        self.fewest = fewest;
    }

    /// Announces a task that shares the measuring CPU because the row's name says so: what it runs is no
    /// other program's.
    ///
    /// # Errors
    /// The kernel does not report how long tasks run.
    pub fn accompanied_by(&mut self, task: TaskId) -> Result<(), Unsupported> {
        self.company.push(SchedStat::of(task)?);
        Ok(())
    }

    /// Keeps no core frequency with the samples: their values do not depend on this core's, e.g.
    /// how much longer a sleep takes, or what another CPU does.
    pub fn disregard_frequency(&mut self) {
        if let Some(core_probes) = &mut self.core_probes {
            core_probes.disregard_frequency();
        }
    }

    /// Takes every sample as it comes, even on a shared core: for quantities that do not depend on
    /// the core's speed.
    pub(crate) fn ignore_interference(&mut self) {
        self.core_probes = None;
        self.is_of_others = true;
    }
}

impl<T> Outcome<'_, T> {
    /// Number of operations that this pass has made.
    pub fn operations(&self) -> u64 {
        self.done.operations
    }

    /// Reports a total that the benchmark counted itself over every operation of this pass, warm-up
    /// included; the expectation of the same name compares it per operation.
    pub fn report(&mut self, name: &'static str, total: f64) {
        self.reports.insert(name, total);
    }

    /// CPU time of all tasks of a [`Together`](super::Together), in ns per operation; `None` where
    /// the kernel does not report it.
    pub fn cpu_ns(&self) -> Option<f64> {
        self.done.cpu_ns
    }

    /// Adds a detail: the time of one task's turn, of an operation in which each has one.
    pub fn detail_each_turn(&mut self, name: &str) {
        match self.done.tasks {
            Some(tasks) => self.detail_times(name, 1.0 / tasks as f64),
            None => self.note(
                name,
                "left out: nothing says how many tasks there are",
                "/proc",
            ),
        }
    }

    /// The names of the baselines whose cost was subtracted, in order.
    pub fn subtracted(&self) -> &[&'static str] {
        &self.done.subtracted
    }

    /// Switches of all tasks of a [`Together`](super::Together) per timed operation; `None` in the
    /// evidence pass. For operations that may switch in one process and not in the next.
    pub fn timed_switches(&self) -> Option<f64> {
        self.done.timed_switches
    }

    /// Claims that this many bytes were moved in all operations, each those that the rate is made
    /// of. Whoever sets a rate must, but for kernels, which say themselves what they move.
    pub fn claim_moved(&mut self, bytes: u64, source: &str) {
        let each = bytes as f64 / self.done.operations.max(1) as f64;
        let rated = self.findings.bytes.unwrap_or(f64::NAN);
        let claim = "bytes moved per operation, of which the rate is made";
        self.claim_equal(claim, rated, each, source);
        self.done.is_rate_claimed = true;
    }

    /// For each observation that was timed, its value and how long it took, in ns.
    pub fn observed(&self) -> &[(f64, f64)] {
        &self.done.observed
    }
}

impl<'a, T> Outcome<'a, T> {
    /// The outcome, and what the operation itself has seen.
    pub fn split(self) -> (Outcome<'a>, T) {
        let outcome = Outcome {
            bencher: self.bencher,
            declared: self.declared,
            done: self.done,
            reports: self.reports,
            output: (),
        };
        (outcome, self.output)
    }
}

impl<'a> Outcome<'a> {
    /// The same with what the operation itself has seen.
    fn with_output<T>(self, output: T) -> Outcome<'a, T> {
        Outcome {
            bencher: self.bencher,
            declared: self.declared,
            done: self.done,
            reports: self.reports,
            output,
        }
    }

    /// Returns the findings, with the benchmark's own reports judged.
    ///
    /// # Errors
    /// When the benchmark itself is wrong.
    pub fn finish(mut self) -> Result<Findings, Failure> {
        self.judge_proofs()?;
        if self.findings.bytes.is_some() && !self.done.is_rate_claimed {
            let what = "makes a rate of bytes, and does not claim that they were moved";
            return Err(Failure::Broken(what.into()));
        }
        let (found, broken) = (&mut self.bencher.findings, Failure::Broken);
        let call_cycles = self.done.call_cycles.unwrap_or(SYSCALL_FLOOR_CYCLES);
        for expect in &self.declared {
            match (expect.counter, expect.bound) {
                (Counter::Reported(name), _) => {
                    let missing = || broken(format!("expects `{name}` but does not report it"));
                    let total = self.reports.get(name).ok_or_else(missing)?;
                    let per_operation = total / self.done.operations.max(1) as f64;
                    let evidence = expect.judge(per_operation, "benchmark");
                    found.evidence.push(evidence);
                }
                (counter @ (Counter::CoreCycles | Counter::TimedCalls), Bound::AtLeast(least)) => {
                    let is_calls = counter == Counter::TimedCalls;
                    let floor = if is_calls { least * call_cycles } else { least };
                    found.cycle_floor = Some(found.cycle_floor.unwrap_or(0.0).max(floor));
                }
                (Counter::CoreCycles | Counter::TimedCalls, _) => {
                    let what = "bounds its core cycles otherwise than from below";
                    return Err(broken(what.into()));
                }
                _ => {}
            }
        }
        self.finish_singles();
        Ok(self.bencher.findings)
    }
}

impl<'a> Deref for Plan<'a> {
    type Target = Bencher<'a>;

    fn deref(&self) -> &Bencher<'a> {
        &self.bencher
    }
}

impl DerefMut for Plan<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.bencher
    }
}

impl<'a, T> Deref for Outcome<'a, T> {
    type Target = Bencher<'a>;

    fn deref(&self) -> &Bencher<'a> {
        &self.bencher
    }
}

impl<T> DerefMut for Outcome<'_, T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.bencher
    }
}
