//! What every measurement begins with: the check that it is the only one, and its complete expectations.

use super::Bencher;
use super::body::Body;
use super::pass::Pass;
use crate::expect::{self, Manner};
use crate::failure::Failure;

impl Bencher<'_> {
    pub(super) fn measure(
        &mut self,
        per_iteration: u64,
        mut body: impl Body,
    ) -> Result<(), Failure> {
        self.begin(Manner::Batches)?;
        match self.pass {
            Pass::Timed => self.time_batches(per_iteration, &mut body),
            Pass::Evidence => self.count_batches(per_iteration, &mut body),
        }
    }

    /// Like `begin`, for measurements whose times cannot be converted to a rate.
    pub(super) fn begin_times(&mut self, manner: Manner, call: &str) -> Result<(), Failure> {
        if self.findings.bytes.is_some() {
            let what = format!("sets a rate, and `{call}` gives times");
            return Err(Failure::Broken(what));
        }
        self.begin(manner)
    }

    pub(super) fn begin(&mut self, manner: Manner) -> Result<(), Failure> {
        self.begin_on(manner, 1)
    }

    /// Like `begin`, for tasks that may use this many CPUs simultaneously.
    pub(super) fn begin_on(&mut self, manner: Manner, cpus: usize) -> Result<(), Failure> {
        if std::mem::replace(&mut self.measured, true) {
            return Err(Failure::Broken("measured twice".into()));
        }
        self.refuse_growth(manner)?;
        self.is_team = manner.is_together();
        self.declared = expect::complete(&self.declared, manner, cpus);
        // On one CPU nothing sleeps: there the next task runs.
        self.is_uninterrupted |= manner == Manner::Together && cpus > 1 && self.must_sleep();
        Ok(())
    }
}
