//! Values that a benchmark observes itself, and procedures of others, repeated as a whole.

use std::hint::black_box;

use syscost_sys::Unsupported;
use syscost_sys::counters::Usage;

use super::body::Body;
use super::{Bencher, Pass};
use crate::expect::Manner;
use crate::failure::Failure;

/// A program that repeats a procedure, started for each result.
struct ProgramBody<P>(P);

impl<P: FnMut() -> Result<f64, Failure>> Body for ProgramBody<P> {
    fn run(&mut self, results: u64) -> Result<(), Failure> {
        (0..results).try_for_each(|_| (self.0)().map(drop))
    }

    /// Those of programs that have ended and were waited for.
    fn usage(&self) -> Option<Result<Usage, Unsupported>> {
        Some(Usage::children())
    }
}

impl Bencher<'_> {
    /// Takes values that the benchmark observes itself, one per sample, in its own unit. They count
    /// as this core's work, unless [`Bencher::disregard_frequency`] says otherwise.
    pub fn observe(
        &mut self,
        observation: impl FnMut() -> Result<f64, Failure>,
    ) -> Result<(), Failure> {
        self.prepared_observe(|| Ok(()), observation)
    }

    /// Like [`Bencher::observe`], each value after a preparation during which it does not matter
    /// whose the core is. Calls and faults of both are counted.
    pub fn prepared_observe(
        &mut self,
        mut prepare: impl FnMut() -> Result<(), Failure>,
        mut observation: impl FnMut() -> Result<f64, Failure>,
    ) -> Result<(), Failure> {
        self.begin_times(Manner::Observations, "observe")?;
        self.findings.observed = true;
        match self.pass {
            Pass::Timed => self.time_observations(prepare, observation),
            Pass::Evidence => self.count_batches(1, &mut |n: u64| {
                for _ in 0..n {
                    prepare()?;
                    black_box(observation()?);
                }
                Ok(())
            }),
        }
    }

    /// Takes this many results in a process if more of them take long, as where each fills much memory:
    /// with one and six processes there are six. To be called before the measurement.
    pub fn may_take_few(&mut self, fewest: u32) {
        self.set_too_late |= self.measured;
        self.fewest = fewest;
    }

    /// Repeats a published procedure as a whole: each sample is one result as its program prints it,
    /// in the benchmark's own unit. `procedure` starts the program and waits for its end,
    /// [uncounted](syscost_sys::audit::uncounted): what is counted is the program's. It does `operations`
    /// operations each time, and counts are per operation.
    pub fn as_published(
        &mut self,
        operations: u64,
        procedure: impl FnMut() -> Result<f64, Failure>,
    ) -> Result<(), Failure> {
        // A published figure was not converted to a usual frequency either.
        self.disregard_frequency();
        self.begin_times(Manner::Observations, "as_published")?;
        self.findings.observed = true;
        match self.pass {
            Pass::Timed => self.time_observations(|| Ok(()), procedure),
            Pass::Evidence => self.count_batches(operations, &mut ProgramBody(procedure)),
        }
    }
}
