//! What benchmarks that are not measured by a [`Plan`] call: to go.
#![allow(missing_docs)]

use std::fmt::Display;

use syscost_sys::kernel::Work;
use syscost_sys::partner::Between;
use syscost_sys::raw::Sysno;

use super::plan::Shape;
use super::*;
use crate::arguments::{Argument, ArgumentClaim, ArgumentValue};
use crate::placement::Placement;

impl<'a> Plan<'a> {
    pub(crate) fn old(
        mut self,
        run: impl FnOnce(&mut Bencher) -> Result<(), Failure>,
    ) -> Result<Outcome<'a>, Failure> {
        run(&mut self)?;
        Ok(self.over())
    }
}

impl Bencher<'_> {
    fn shaped<S: Shape>(&mut self, shape: S) -> Result<S::Seen, Failure> {
        self.measure_shape(shape)
    }

    pub fn rate(&mut self, bytes: u64) {
        self.findings.bytes = Some(bytes as f64);
    }

    pub fn operations_per_iteration(&mut self, count: u64) {
        self.per_iteration = count;
    }

    pub fn takes_about(&mut self, ns: f64) {
        self.known_ns = ns;
    }

    pub fn may_take_few(&mut self, fewest: u32) {
        self.fewest = fewest;
    }

    pub fn expect_argument(&mut self, call: Sysno, argument: Argument, given: ArgumentValue) {
        self.arguments.push(ArgumentClaim {
            call,
            argument,
            given,
        });
    }

    pub fn warm_up(&mut self, op: impl FnMut() -> Result<(), Failure>) -> Result<(), Failure> {
        self.warm_up_sleeper(op)
    }

    pub fn operations(&self) -> u64 {
        self.operations
    }

    pub fn report(&mut self, name: &'static str, total: f64) {
        self.reports.insert(name, total);
    }

    pub fn report_shared(&mut self, name: &'static str, total: f64) {
        self.shared_counts.push(name);
        self.report(name, total);
    }

    pub fn cpu_ns(&self) -> Option<f64> {
        self.cpu_ns
    }

    pub fn timed_switches(&self) -> Option<f64> {
        self.timed_switches
    }

    pub fn iter<T>(&mut self, op: impl FnMut() -> T) -> Result<(), Failure> {
        self.shaped(Loop::infallible(op))
    }

    pub fn try_iter<T, E: Display>(
        &mut self,
        op: impl FnMut() -> Result<T, E>,
    ) -> Result<(), Failure> {
        self.shaped(Loop::each(op))
    }

    pub fn kernel(&mut self, kernel: &impl Work) -> Result<(), Failure> {
        self.shaped(Kernel::of(kernel))
    }

    pub fn batches(
        &mut self,
        per_iteration: u64,
        body: impl FnMut(u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.shaped(Loop::batches(per_iteration, body))
    }

    pub fn prepared_batches(
        &mut self,
        per_iteration: u64,
        max_iterations: u64,
        prepare: impl FnMut(u64) -> Result<(), Failure>,
        body: impl FnMut(u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.shaped(Loop::batches(per_iteration, body).prepared(max_iterations, prepare))
    }

    pub fn kernel_difference(
        &mut self,
        baseline: &impl Work,
        kernel: &impl Work,
        share: f64,
    ) -> Result<(), Failure> {
        self.shaped(Kernel::of(kernel).minus(baseline, share))
    }

    pub fn single(
        &mut self,
        prepare: impl FnMut() -> Result<(), Failure>,
        op: impl FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.shaped(Single::of(prepare, op))
    }

    pub fn served(&mut self, served: &mut impl Served) -> Result<(), Failure> {
        self.shaped(Loop::served(served))
    }

    pub fn observe(
        &mut self,
        observation: impl FnMut() -> Result<f64, Failure>,
    ) -> Result<(), Failure> {
        self.shaped(Observed::of(observation))
    }

    pub fn prepared_observe(
        &mut self,
        prepare: impl FnMut() -> Result<(), Failure>,
        observation: impl FnMut() -> Result<f64, Failure>,
    ) -> Result<(), Failure> {
        self.shaped(Observed::of(observation).prepared(prepare))
    }

    pub fn as_published(
        &mut self,
        operations: u64,
        procedure: impl FnMut() -> Result<f64, Failure>,
    ) -> Result<(), Failure> {
        self.shaped(Published::of(operations, procedure))
    }

    pub fn together<'t, R: 't>(
        &mut self,
        placement: Placement,
        make: impl Fn(&[u32]) -> Result<Team<'t, R>, Failure>,
    ) -> Result<R, Failure> {
        self.shaped(Together::of(placement, make))
    }

    pub fn together_difference<'t, R: 't>(
        &mut self,
        placement: Placement,
        make: impl Fn(&[u32]) -> Result<Team<'t, R>, Failure>,
        baselines: &[Baseline<'_, 't>],
    ) -> Result<R, Failure> {
        self.shaped(Together::of(placement, make).minus(baselines))
    }

    pub fn single_together<'t, R: 't>(
        &mut self,
        placement: Placement,
        make: impl Fn(&[u32]) -> Result<Team<'t, R>, Failure>,
    ) -> Result<R, Failure> {
        self.shaped(Together::of(placement, make).own_share())
    }

    pub fn copies<O, E>(
        &mut self,
        between: Between,
        count: usize,
        per_iteration: u64,
        make: impl Fn(usize) -> Result<O, Failure> + Clone + Send + 'static,
    ) -> Result<(), Failure>
    where
        O: FnMut() -> Result<(), E>,
        E: Display,
    {
        self.shaped(Copied::of(between, count, per_iteration, make))
    }
}
