//! Published procedures of others, repeated as a whole.

use std::hint::black_box;

use super::Bencher;
use super::pass::Pass;
use crate::expect::Manner;
use crate::failure::Failure;

impl Bencher<'_> {
    /// Repeats a published procedure as a whole: each sample is one result as the procedure would print it,
    /// in the benchmark's own unit. It does `operations` operations each time, and counts are per
    /// operation.
    pub fn as_published(
        &mut self,
        operations: u64,
        mut procedure: impl FnMut() -> Result<f64, Failure>,
    ) -> Result<(), Failure> {
        // A published figure was not converted to a usual frequency either.
        self.disregard_frequency();
        self.begin_times(Manner::Observations, "as_published")?;
        self.findings.observed = true;
        match self.pass {
            Pass::Timed => self.time_observations(|| Ok(()), procedure),
            Pass::Evidence => self.count_batches(operations, &mut |results: u64| {
                for _ in 0..results {
                    black_box(procedure()?);
                }
                Ok(())
            }),
        }
    }
}
