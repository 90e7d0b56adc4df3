//! Values that a benchmark observes itself.

use std::hint::black_box;

use super::{Bencher, Pass};
use crate::expect::Manner;
use crate::failure::Failure;

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
}
