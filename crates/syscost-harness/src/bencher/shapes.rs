//! The shapes of single tasks: loops, kernels, single operations, observed values. Those of several
//! are in [`team`](super::team) and [`copies`](super::copies).

use std::cell::Cell;
use std::fmt::Display;
use std::hint::black_box;
use std::rc::Rc;

use syscost_results::Bound;
use syscost_sys::kernel::Work;

use super::body::{Body, KernelBody, PreparedBody};
use super::plan::{Plan, Shape};
use super::served::{Served, ServedBody};
use crate::expect::{Counter, Manner, costs};
use crate::failure::Failure;

/// Batches of operations: each is timed as a whole.
pub struct Loop<B> {
    per_iteration: u64,
    body: B,
    made: IterationCount,
}

/// Iterations that a loop has made, by its own count; `None` where it proves otherwise what it did.
type IterationCount = Option<Rc<Cell<u64>>>;

impl Loop<()> {
    /// An operation that can fail. Its first failure ends the measurement, and its row reports it:
    /// a failed operation never counts as a fast one.
    pub fn each<T, E: Display>(
        mut op: impl FnMut() -> Result<T, E>,
    ) -> Loop<impl FnMut(u64) -> Result<(), Failure>> {
        let mut done: u64 = 0;
        Loop::batches(1, move |n| {
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

    /// An operation that cannot fail.
    ///
    /// The loop is unrolled eightfold, so its own cost is an eighth of a cycle or so per operation:
    /// suitable for system calls and similar operations. An operation of few cycles is a
    /// [`Kernel`].
    pub fn infallible<T>(
        mut op: impl FnMut() -> T,
    ) -> Loop<impl FnMut(u64) -> Result<(), Failure>> {
        Loop::batches(1, move |n| {
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

    /// A function of the user's: compiled once, and called by pointer, which costs about a nanosecond.
    /// Inlined into the copies of an unrolled loop, larger ones become other code than they are where they
    /// are called once (half as long again was seen).
    pub fn function<T>(mut op: impl FnMut() -> T) -> Loop<impl FnMut(u64) -> Result<(), Failure>> {
        Loop::batches(1, move |n| {
            let op: &mut dyn FnMut() -> T = black_box(&mut op);
            for _ in 0..n {
                black_box(op());
            }
            Ok(())
        })
    }

    /// `body(iterations)`, which does exactly `iterations * per_iteration` operations.
    pub fn batches<F: FnMut(u64) -> Result<(), Failure>>(
        per_iteration: u64,
        mut body: F,
    ) -> Loop<impl FnMut(u64) -> Result<(), Failure>> {
        let made = Rc::new(Cell::new(0));
        let count = Rc::clone(&made);
        Loop {
            per_iteration,
            body: move |iterations| {
                count.set(count.get() + iterations);
                body(iterations)
            },
            made: Some(made),
        }
    }

    /// Operations that another process makes and times. What is counted are its calls, faults and
    /// switches; the calls by which it is asked and answers are subtracted.
    pub fn served<S: Served>(served: &mut S) -> Loop<ServedBody<'_, S>> {
        Loop {
            per_iteration: 1,
            body: ServedBody::new(served),
            made: None,
        }
    }
}

impl<F: FnMut(u64) -> Result<(), Failure>> Loop<F> {
    /// The same with an untimed `prepare(iterations)` before each batch, whose faults and calls are
    /// not counted: pages that were given back, mappings to be removed. A batch has at most this
    /// many iterations, at least two: as many as can be prepared together. None of them is timed
    /// individually.
    pub fn prepared<P: FnMut(u64) -> Result<(), Failure>>(
        self,
        max_iterations: u64,
        prepare: P,
    ) -> Loop<PreparedBody<P, F>> {
        Loop {
            per_iteration: self.per_iteration,
            body: PreparedBody::new(max_iterations, prepare, self.body),
            made: self.made,
        }
    }
}

impl<B: Body> Shape for Loop<B> {
    type Output = ();

    const MANNER: Manner = Manner::Batches;
    const MAY_BE_RATE: bool = true;

    fn time(mut self, plan: &mut Plan) -> Result<(), Failure> {
        let before = plan.done.operations;
        plan.time_batches(self.per_iteration, &mut self.body)?;
        self.check_made(plan.done.operations - before)?;
        plan.audit_timed_batches(self.per_iteration, &mut self.body)
    }

    fn count(mut self, plan: &mut Plan) -> Result<(), Failure> {
        let before = plan.done.operations;
        plan.count_batches(self.per_iteration, &mut self.body)?;
        self.check_made(plan.done.operations - before)
    }
}

impl<B> Loop<B> {
    /// Fails if it has made another number of operations than its time is divided by.
    fn check_made(&self, operations: u64) -> Result<(), Failure> {
        match self
            .made
            .as_ref()
            .map(|made| made.get() * self.per_iteration)
        {
            Some(made) if made != operations => {
                let what = format!("has {made} operations made where it counts {operations}");
                Err(Failure::Broken(what))
            }
            _ => Ok(()),
        }
    }
}

/// An assembly kernel, whose checksum is compared after every batch. A rate must refer to the bytes
/// that it moves.
pub struct Kernel<'k, W>(&'k W);

/// The share of the operations in which an event happens. It divides the time, so that there is none
/// that was not claimed ([`Plan::event_share`]).
#[derive(Debug, Clone, Copy)]
pub struct EventShare(f64);

impl Plan<'_> {
    /// The share of operations in which an event happens by `theory`; claims that the outcomes have
    /// it, give or take this part of it.
    pub fn event_share(
        &mut self,
        claim: &str,
        theory: f64,
        within: f64,
        outcomes: f64,
        source: &str,
    ) -> EventShare {
        let bound = Bound::Within((1.0 - within) * theory, (1.0 + within) * theory);
        self.claim_within(claim, bound, outcomes, source);
        EventShare(theory)
    }
}

/// How much more a kernel costs than another.
pub struct KernelDifference<'k, W, V> {
    kernel: &'k W,
    baseline: &'k V,
    share: EventShare,
}

impl<'k, W: Work> Kernel<'k, W> {
    /// This kernel.
    pub fn of(kernel: &'k W) -> Self {
        Self(kernel)
    }

    /// How much more it costs than `baseline`, a kernel of the same instructions with friendlier
    /// data, for each event that happens in a `share` of the operations, e.g. a branch
    /// misprediction. Batches of both alternate.
    pub fn minus<V: Work>(self, baseline: &'k V, share: EventShare) -> KernelDifference<'k, W, V> {
        KernelDifference {
            kernel: self.0,
            baseline,
            share,
        }
    }

    /// Its loop, with what is expected of it.
    fn begin(self, plan: &mut Plan) -> Result<Loop<KernelBody<'k, W>>, Failure> {
        let moved = self.0.bytes_per_operation().map(|bytes| bytes as f64);
        if let Some(rate) = plan.findings.bytes.filter(|rate| moved != Some(*rate)) {
            let what = format!("makes a rate of {rate} bytes of a kernel that moves {moved:?}");
            return Err(Failure::Broken(what));
        }
        plan.done.is_rate_claimed = true;
        claim_operations(plan, self.0);
        plan.expect(costs(Counter::CoreCycles, self.0.floor_cycles()));
        Ok(Loop {
            per_iteration: self.0.operations_per_iteration(),
            body: KernelBody::new(self.0),
            made: None,
        })
    }
}

impl<W: Work> Shape for Kernel<'_, W> {
    type Output = ();

    const MANNER: Manner = Manner::Batches;
    const MAY_BE_RATE: bool = true;

    fn time(self, plan: &mut Plan) -> Result<(), Failure> {
        self.begin(plan)?.time(plan)?;
        claim_checksum(plan);
        Ok(())
    }

    fn count(self, plan: &mut Plan) -> Result<(), Failure> {
        self.begin(plan)?.count(plan)?;
        claim_checksum(plan);
        Ok(())
    }
}

impl<W: Work, V: Work> KernelDifference<'_, W, V> {
    /// Operations of an iteration of both.
    fn per_iteration(&self) -> Result<u64, Failure> {
        let per_iteration = self.kernel.operations_per_iteration();
        if per_iteration == self.baseline.operations_per_iteration() {
            return Ok(per_iteration);
        }
        let what = "compares kernels of different length";
        Err(Failure::Broken(what.into()))
    }
}

impl<W: Work, V: Work> Shape for KernelDifference<'_, W, V> {
    type Output = ();

    const MANNER: Manner = Manner::Batches;

    fn time(self, plan: &mut Plan) -> Result<(), Failure> {
        let per_iteration = self.per_iteration()?;
        claim_operations(plan, self.kernel);
        let (baseline, body) = (KernelBody::new(self.baseline), KernelBody::new(self.kernel));
        plan.time_difference(per_iteration, baseline, body, self.share.0)?;
        plan.audit_timed_batches(per_iteration, &mut KernelBody::new(self.kernel))?;
        claim_checksum(plan);
        Ok(())
    }

    fn count(self, plan: &mut Plan) -> Result<(), Failure> {
        claim_operations(plan, self.kernel);
        plan.count_batches(self.per_iteration()?, &mut KernelBody::new(self.kernel))?;
        claim_checksum(plan);
        Ok(())
    }
}

/// Claims that the time is divided by as many operations as the machine code holds.
fn claim_operations(plan: &mut Plan, work: &impl Work) {
    if let Some(counted) = work.operations_in_code() {
        let claim = "operations of an iteration";
        let divided_by = work.operations_per_iteration();
        plan.claim_equal(claim, divided_by, counted, "the code's bytes");
    }
}

/// The checks after each batch have passed.
fn claim_checksum(plan: &mut Plan) {
    plan.claim("checksum of every batch", "equal", "equal", "kernel", true);
}

/// Operations that are timed individually, each after an untimed preparation: first calls, cold
/// caches. The timer's own cost, measured by an empty pair after the same preparation, is
/// subtracted; the raw values are kept.
pub struct Single<P, O> {
    prepare: P,
    op: O,
}

impl<P, O> Single<P, O>
where
    P: FnMut() -> Result<(), Failure>,
    O: FnMut() -> Result<(), Failure>,
{
    /// This operation, with what is done before each.
    pub fn of(prepare: P, op: O) -> Self {
        Self { prepare, op }
    }
}

impl<P, O> Shape for Single<P, O>
where
    P: FnMut() -> Result<(), Failure>,
    O: FnMut() -> Result<(), Failure>,
{
    type Output = ();

    const MANNER: Manner = Manner::Singles;

    fn time(mut self, plan: &mut Plan) -> Result<(), Failure> {
        plan.time_singles(&mut (), |()| (self.prepare)(), |()| (self.op)())?;
        plan.audit_timed(|plan| plan.audit_singles(&mut self.prepare, &mut self.op))
    }

    fn count(mut self, plan: &mut Plan) -> Result<(), Failure> {
        plan.count_singles(&mut self.prepare, &mut self.op)
    }
}

/// Values that a benchmark observes itself, one per sample, in its own unit. They count as this
/// core's work, unless [`Plan::disregard_frequency`](super::Plan::disregard_frequency) says
/// otherwise.
pub struct Observed<P, F> {
    prepare: P,
    observation: F,
    times: Option<f64>,
}

impl<F: FnMut() -> Result<f64, Failure>> Observed<fn() -> Result<(), Failure>, F> {
    /// These values.
    pub fn of(observation: F) -> Self {
        Self {
            prepare: || Ok(()),
            observation,
            times: None,
        }
    }

    /// Each value after a preparation during which it does not matter whose the core is. Calls and
    /// faults of both are counted.
    pub fn prepared<P: FnMut() -> Result<(), Failure>>(self, prepare: P) -> Observed<P, F> {
        Observed {
            prepare,
            observation: self.observation,
            times: self.times,
        }
    }
}

impl<P, F> Observed<P, F> {
    /// Each value is the time, in ns, of one of so many operations in its observation, the rest of which is
    /// no part of it, as sleeps that were asked for. Waits for the CPU are then a share of these times.
    #[must_use]
    pub fn time_of_one_in(self, operations: usize) -> Self {
        Self {
            times: Some(operations as f64),
            ..self
        }
    }
}

impl<P, F> Observed<P, F>
where
    P: FnMut() -> Result<(), Failure>,
    F: FnMut() -> Result<f64, Failure>,
{
    /// Operations in an observation.
    fn operations(&self) -> u64 {
        self.times.map_or(1, |operations| operations as u64)
    }

    /// Its observations as batches.
    fn batches(&mut self) -> impl FnMut(u64) -> Result<(), Failure> {
        |n| {
            for _ in 0..n {
                (self.prepare)()?;
                black_box((self.observation)()?);
            }
            Ok(())
        }
    }
}

impl<P, F> Shape for Observed<P, F>
where
    P: FnMut() -> Result<(), Failure>,
    F: FnMut() -> Result<f64, Failure>,
{
    type Output = ();

    const MANNER: Manner = Manner::Observations;

    fn time(mut self, plan: &mut Plan) -> Result<(), Failure> {
        plan.time_observations(&mut self.prepare, &mut self.observation, self.times)?;
        plan.audit_timed_batches(self.operations(), &mut self.batches())
    }

    fn count(mut self, plan: &mut Plan) -> Result<(), Failure> {
        plan.count_batches(self.operations(), &mut self.batches())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_made_other_operations_than_are_counted_is_a_defect() {
        let mut twice = Loop::batches(2, |_| Ok(()));
        twice.body.run(3).expect("nothing fails");
        assert_eq!(twice.check_made(6), Ok(()));
        for counted in [3, 12] {
            let failure = twice.check_made(counted);
            assert!(matches!(failure, Err(Failure::Broken(_))), "{counted}");
        }
    }
}
