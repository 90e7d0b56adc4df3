//! How a benchmark is measured: it sets up, says what it needs to by a [`Plan`], and has one
//! [`Shape`] measured, which uses the plan up. What it claims afterwards it claims of the
//! [`Outcome`], which it returns. So it measures exactly once, and nothing is set too late or
//! claimed too early.

use std::ops::{Deref, DerefMut};

use syscost_sys::raw::Sysno;

use super::pass::{Pass, Situation};
use super::{Bencher, Findings};
use crate::arguments::{Argument, ArgumentClaim, ArgumentValue};
use crate::case::Case;
use crate::expect::{self, Expect, Manner};
use crate::failure::Failure;

/// What precedes a measurement.
pub struct Plan<'a>(Bencher<'a>);

/// What has been measured, and what the operation itself has seen meanwhile.
pub struct Outcome<'a, T = ()> {
    bencher: Bencher<'a>,
    seen: T,
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
    type Seen;

    /// How it is measured, from which follows what is expected of it.
    #[doc(hidden)]
    fn manner(&self) -> Manner;

    /// The number of CPUs that its tasks may use simultaneously.
    #[doc(hidden)]
    fn cpus(&self, _: &Bencher) -> Result<usize, Failure> {
        Ok(1)
    }

    /// Whether its samples are times of operations, so that they can be converted to a rate.
    #[doc(hidden)]
    fn may_be_rate(&self) -> bool {
        false
    }

    /// Takes samples.
    #[doc(hidden)]
    fn time(self, bencher: &mut Bencher) -> Result<Self::Seen, Failure>;

    /// Counts what the operation does.
    #[doc(hidden)]
    fn count(self, bencher: &mut Bencher) -> Result<Self::Seen, Failure>;
}

impl<'a> Plan<'a> {
    /// A plan for one case in one pass.
    pub fn new(case: &'a Case, declared: &[Expect], situation: Situation<'a>) -> Self {
        Self(Bencher::new(case, declared, situation))
    }

    /// Measures this.
    ///
    /// # Errors
    /// Why there is no number.
    pub fn measure<S: Shape>(mut self, shape: S) -> Result<Outcome<'a, S::Seen>, Failure> {
        if self.findings.bytes.is_some() && !shape.may_be_rate() {
            let what = "sets a rate of what gives no times of operations";
            return Err(Failure::Broken(what.into()));
        }
        let cpus = shape.cpus(&self)?;
        let manner = shape.manner();
        self.begin(manner, cpus)?;
        let seen = match self.pass {
            Pass::Timed => shape.time(&mut self)?,
            Pass::Evidence => shape.count(&mut self)?,
        };
        // The others claim what the kernel says of each of theirs.
        if !manner.is_together() && manner != Manner::Copies {
            self.claim_alone();
        }
        let bencher = self.0;
        Ok(Outcome { bencher, seen })
    }

    /// Adds an expectation that is known only at run time.
    pub fn expect(&mut self, expect: Expect) {
        self.0.expect(expect);
    }

    /// Claims what an argument is in every `call` of the operation that the measuring task makes;
    /// the audit records the arguments. A preparation before all operations may make such calls as
    /// well; a preparation of each single operation must not.
    pub fn expect_argument(
        &mut self,
        call: Sysno,
        argument: impl Into<Argument>,
        given: ArgumentValue,
    ) {
        let argument = argument.into();
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

    /// Makes each iteration of several tasks this many operations.
    pub fn operations_per_iteration(&mut self, count: u64) {
        self.per_iteration = count;
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

    /// Keeps no core frequency with the samples: their values do not depend on this core's, e.g.
    /// how much longer a sleep takes, or what another CPU does.
    pub fn disregard_frequency(&mut self) {
        self.0.disregard_frequency();
    }

    /// Takes every sample as it comes, even on a shared core: for quantities that do not depend on
    /// the core's speed.
    pub(crate) fn ignore_interference(&mut self) {
        self.core_probes = None;
    }

    /// Runs an operation that sleeps, untimed, until its CPU is used to it. All samples are then
    /// taken without waiting for an undisturbed core in between. Nothing of it is counted.
    ///
    /// # Errors
    /// The operation's error.
    pub fn warm_up(&mut self, op: impl FnMut() -> Result<(), Failure>) -> Result<(), Failure> {
        self.warm_up_sleeper(op)
    }

    /// Counts, in the evidence pass, the system calls that are expected of operations that are
    /// [`Observed`](super::Observed): theirs, not those of an observation. `body(n)` sets up, makes
    /// `n` of them and ends, in a forked child; the calls of `body(0)` are subtracted.
    ///
    /// # Errors
    /// The error of the child.
    pub fn audit_apart(
        &mut self,
        operations: u64,
        body: impl FnMut(u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.0.audit_apart(operations, body)
    }
}

impl<T> Outcome<'_, T> {
    /// Number of operations that this pass has made.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Reports a total that the benchmark counted itself over every operation of this pass, warm-up
    /// included; the expectation of the same name compares it per operation.
    pub fn report(&mut self, name: &'static str, total: f64) {
        self.reports.insert(name, total);
    }

    /// As [`Outcome::report`], for a count that other programs on this CPU raise as well: beyond
    /// its bound it refutes only if there are none.
    pub fn report_shared(&mut self, name: &'static str, total: f64) {
        self.shared_counts.push(name);
        self.report(name, total);
    }

    /// CPU time of all tasks of a [`Together`](super::Together), in ns per operation; `None` where
    /// the kernel does not report it.
    pub fn cpu_ns(&self) -> Option<f64> {
        self.cpu_ns
    }

    /// The names of the baselines whose cost was subtracted, in order.
    pub fn subtracted(&self) -> &[&'static str] {
        &self.subtracted
    }

    /// Switches of all tasks of a [`Together`](super::Together) per timed operation; `None` in the
    /// evidence pass. For operations that may switch in one process and not in the next.
    pub fn timed_switches(&self) -> Option<f64> {
        self.timed_switches
    }
}

impl<'a, T> Outcome<'a, T> {
    /// The outcome, and what the operation itself has seen.
    pub fn split(self) -> (Outcome<'a>, T) {
        let Self { bencher, seen } = self;
        (Outcome { bencher, seen: () }, seen)
    }
}

impl Outcome<'_> {
    /// Returns the findings, with the benchmark's own reports judged.
    ///
    /// # Errors
    /// When the benchmark itself is wrong.
    pub fn finish(self) -> Result<Findings, Failure> {
        self.bencher.finish()
    }
}

impl Bencher<'_> {
    /// Begins to measure tasks that may use this many CPUs simultaneously: completes the
    /// expectations.
    fn begin(&mut self, manner: Manner, cpus: usize) -> Result<(), Failure> {
        self.refuse_growth(manner)?;
        self.is_team = manner.is_together();
        self.declared = expect::complete(&self.declared, manner, cpus);
        // On one CPU nothing sleeps: there the next task runs.
        self.is_uninterrupted |= manner == Manner::Together && cpus > 1 && self.must_sleep();
        Ok(())
    }
}

impl<'a> Deref for Plan<'a> {
    type Target = Bencher<'a>;

    fn deref(&self) -> &Bencher<'a> {
        &self.0
    }
}

impl DerefMut for Plan<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
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
