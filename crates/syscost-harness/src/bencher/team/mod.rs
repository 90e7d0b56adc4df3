//! Operations that several tasks do together.
//!
//! - [`driver`]: the measuring task's side.
//! - [`responder`]: a partner that answers turn by turn.
//! - [`task_group`]: partners that work until they are stopped; [`stop`] stops them.
//! - [`ending`]: how a team ends, and the reasons for a failure.
//! - [`at_work`]: a team's loop, and what the kernel counts for it.
//! - [`placing`]: where its tasks are put, and where they were seen.
//! - [`between`]: whether its tasks are processes or threads.
//! - [`difference`]: the cost of an operation of several tasks above that of baselines.
//! - [`single`]: one task's share, timed alone.
//! - [`sentinel`]: looks at the cores of partners on other CPUs.

mod at_work;
mod between;
mod difference;
mod driver;
mod ending;
mod placing;
mod responder;
pub(super) mod sentinel;
mod single;
mod stop;
mod task_group;

use syscost_results::ClaimId;
use syscost_results::measurement::Cause;
use syscost_sys::counters::{TaskId, TaskReading};
use syscost_sys::partner::Partner;

use super::background;
use super::counts::{Counted, sum};
use super::evidence::{AUDITED_TOGETHER, COUNTED_NS, COUNTED_PER_TASK, COUNTED_TOGETHER};
use super::plan::{Plan, Shape};
use super::watch::Waits;
use crate::expect::{Counter, Manner};
use crate::failure::Failure;
use crate::placement::{Placed, Placement};

use at_work::AtWork;
pub(super) use between::groups_of;
pub use difference::{Baseline, Difference};
pub use driver::Driver;
use driver::{AnyDriver, ReturnedDriver, Slot};
use placing::PlacementRecord;
pub use responder::Responder;
pub use single::OwnShare;
pub use stop::Stop;
use stop::Stopper;
pub use task_group::TaskGroup;

/// Slow operations are counted for at most this long, in ns, but at least this many of them.
const SLOW_LIMIT_NS: f64 = 1e9;
const MIN_SLOW: u64 = 8;

/// Starts a team whose partners may use these CPUs.
type Make<'m, 't, R = ()> = &'m dyn Fn(&[u32]) -> Result<Team<'t, R>, Failure>;

/// The tasks that do an operation together: the measuring one and its partners. It returns an `R`
/// in the end.
pub struct Team<'t, R = ()> {
    partners: Vec<Partner>,
    /// Stops the partners, if they have a stop.
    stopper: Option<Stopper>,
    driver: Box<dyn AnyDriver + 't>,
    is_prepared: bool,
    max_iterations: u64,
    /// Returns the result, once all partners have ended and the driver is handed back.
    result: Box<dyn FnOnce() -> Result<R, Failure> + 't>,
}

impl<'t, L: Driver + 't> Team<'t, L> {
    /// A team of these partners and the measuring task's `driver`, which it returns. The partners
    /// end when [`Driver::end`] makes them. See [`TaskGroup`] and [`Responder`], which also return
    /// what partners counted.
    pub fn new(partners: Vec<Partner>, driver: L) -> Self {
        let back = Slot::empty();
        let handed = back.share();
        Self {
            partners,
            stopper: None,
            driver: Box::new(ReturnedDriver { driver, back }),
            is_prepared: L::IS_PREPARED,
            max_iterations: L::MAX_ITERATIONS,
            result: Box::new(move || handed.take()),
        }
    }
}

impl<'t, R: 't> Team<'t, R> {
    /// Converts the team's result.
    #[must_use]
    pub fn map<Q>(self, change: impl FnOnce(R) -> Q + 't) -> Team<'t, Q> {
        self.then(|result| Ok(change(result)))
    }

    /// Makes batches of these numbers of iterations and ends the team, without a measurement;
    /// returns its result.
    ///
    /// # Errors
    /// The error, in the partners' words if it was theirs.
    pub fn perform(self, batches: impl IntoIterator<Item = u64>) -> Result<R, Failure> {
        let back = Slot::empty();
        let mut team = self.handing_to(&back);
        let done = batches.into_iter().try_for_each(|iterations| {
            team.driver.prepare()?;
            team.driver.run(iterations)
        });
        match done {
            Ok(()) => team.dismiss()?,
            Err(failure) => return Err(Team::explain([team], failure)),
        }
        back.take()
    }

    /// Converts the team's result by a function that may fail.
    #[must_use]
    pub fn then<Q>(self, change: impl FnOnce(R) -> Result<Q, Failure> + 't) -> Team<'t, Q> {
        let result = self.result;
        Team {
            result: Box::new(move || change(result()?)),
            partners: self.partners,
            stopper: self.stopper,
            driver: self.driver,
            is_prepared: self.is_prepared,
            max_iterations: self.max_iterations,
        }
    }

    /// The same team without a type of its own: its result is put into `back`.
    fn handing_to(self, back: &Slot<R>) -> Team<'t> {
        let back = back.share();
        self.map(move |result| back.put(result))
    }

    /// The same team with the stop of its partners.
    fn stopped_by(self, stopper: Stopper) -> Self {
        Self {
            stopper: Some(stopper),
            ..self
        }
    }
}

impl Team<'_> {
    /// One iteration with its preparation.
    fn single(&mut self) -> Result<(), Failure> {
        self.driver.prepare()?;
        self.driver.run(1)
    }
}

/// An operation that several tasks do together. The cost is one operation's. Every switch of every
/// task must be declared.
pub struct Together<M> {
    placement: Placement,
    per_iteration: u64,
    make: M,
}

impl<'t, R: 't, M> Together<M>
where
    M: Fn(&[u32]) -> Result<Team<'t, R>, Failure>,
{
    /// A team on these CPUs. `make` gets the CPUs that partners may use and starts them; it is
    /// called anew in the audited child, so that the calls of all tasks are counted. What is
    /// [Output](Shape::Output) is the result of the team that was timed or counted in this process.
    pub fn of(placement: Placement, make: M) -> Self {
        Self {
            placement,
            per_iteration: 1,
            make,
        }
    }

    /// Makes each iteration this many operations.
    #[must_use]
    pub fn per_iteration(self, operations: u64) -> Self {
        let per_iteration = operations;
        Self {
            per_iteration,
            ..self
        }
    }

    /// The cost of the operation above that of these baselines together. Batches of all of them
    /// alternate in this process, each is counted separately, and the whole cost is kept as the raw
    /// value. A difference has no floor in cycles: it may be zero.
    pub fn minus<'b>(self, baselines: &'b [Baseline<'b, 't>]) -> Difference<'b, 't, M> {
        Difference::of(self, baselines)
    }

    /// The measuring task's share of the operation: its iteration alone, timed individually after
    /// an untimed preparation ([`Driver::prepare`]) that waits until the partners are ready. The
    /// timer's own cost is subtracted, as from a [`Single`](super::Single) operation.
    ///
    /// Counted are the measuring task's switches and faults during its iterations, the partners'
    /// from one preparation to the next, and the system calls of all beyond those of the
    /// preparation alone.
    pub fn own_share(self) -> OwnShare<M> {
        OwnShare(self)
    }

    /// Has a pass made by a team that puts its result where it is returned from.
    fn carry_out(
        &self,
        plan: &mut Plan,
        pass: impl Fn(&mut Plan, &[u32], Make<'_, 't>) -> Result<PlacementRecord, Failure>,
    ) -> Result<R, Failure> {
        let back = Slot::empty();
        let make = |cpus: &[u32]| Ok((self.make)(cpus)?.handing_to(&back));
        plan.placed(self.placement, &mut |plan, cpus| pass(plan, cpus, &make))?;
        back.take()
    }
}

impl<'t, R: 't, M> Shape for Together<M>
where
    M: Fn(&[u32]) -> Result<Team<'t, R>, Failure>,
{
    type Output = R;

    const MANNER: Manner = Manner::Together;
    const MAY_BE_RATE: bool = true;

    fn cpus(&self, plan: &Plan) -> Result<usize, Failure> {
        plan.cpus_of(self.placement)
    }

    fn time(self, plan: &mut Plan) -> Result<R, Failure> {
        self.carry_out(plan, |plan, cpus, make| {
            let seen = plan.time_together(cpus, self.per_iteration, make)?;
            plan.audit_timed(|plan| plan.audit_together(cpus, self.per_iteration, make))?;
            Ok(seen)
        })
    }

    fn count(self, plan: &mut Plan) -> Result<R, Failure> {
        self.carry_out(plan, |plan, cpus, make| {
            plan.count_together(cpus, self.per_iteration, make)
        })
    }
}

impl Plan<'_> {
    /// The wanted number of operations, or fewer if they would take too long.
    fn affordable(&self, wanted: u64) -> u64 {
        let affordable = SLOW_LIMIT_NS / self.known_ns.max(1.0);
        wanted.min((affordable as u64).max(MIN_SLOW))
    }

    /// How long these tasks wait, the measuring one first, whose partners are on these CPUs.
    fn waits_of(&self, tasks: &[TaskId], partners: usize, cpus: &[u32]) -> Waits {
        let placed = Placed::of(self.cpu, partners, cpus);
        Waits::of_team(*self.given.clock, tasks, placed, self.sleeps())
    }

    /// Starts a team: its first iteration is done, and counts like any other in what the benchmark
    /// reports per operation.
    fn at_work<'t>(
        &mut self,
        team: Team<'t>,
        per_iteration: u64,
        cpus: &[u32],
    ) -> Result<AtWork<'t>, Failure> {
        self.done.operations += per_iteration;
        let mut work = AtWork::new(team, per_iteration)?;
        self.waits = self.waits_of(work.ids(), work.ids().len() - 1, cpus);
        // Tasks that are not pinned are looked up all the same: where they are is the result.
        work.is_looked_up = !(self.is_uninterrupted && self.pinned);
        Ok(work)
    }

    fn time_together<'t>(
        &mut self,
        cpus: &[u32],
        per_iteration: u64,
        make: Make<'_, 't>,
    ) -> Result<PlacementRecord, Failure> {
        let (mut used, mut passed_ns, mut timed) = (TaskReading::default(), 0.0, None);
        let seen = self
            .at_work(make(cpus)?, per_iteration, cpus)?
            .drive(|work| {
                work.look();
                let (count, done) = (work.begin_count(&[])?, self.done.operations);
                self.time_batches(per_iteration, work)?;
                let (each, for_ns) = count.end()?;
                (used, passed_ns) = (sum(&each), for_ns);
                let operations = (self.done.operations - done) as f64;
                self.done.cpu_ns = used.run_ns.map(|ns| ns as f64 / operations);
                self.done.timed_switches = Some(used.switches() as f64 / operations);
                timed = (!work.team.is_prepared).then_some((each, operations as u64));
                Ok(())
            })?;
        self.tag_background(cpus, &seen, &used, passed_ns);
        if let Some((each, operations)) = timed {
            self.judge_timed_team(cpus, &each, passed_ns, operations);
        }
        Ok(seen)
    }

    /// What was counted for each task of a team whose partners are on these CPUs.
    fn counted_team(&self, cpus: &[u32], each: &[TaskReading], passed_ns: f64) -> Counted {
        let placed = Placed::of(self.cpu, each.len() - 1, cpus);
        // Tasks that the scheduler places share their CPUs with others, too.
        let may_share = placed != Placed::SeparateCpus;
        let others = may_share.then(|| background::share(&sum(each), passed_ns));
        let counted = Counted::of_tasks(each).placed(placed);
        counted.beside(others.flatten(), passed_ns)
    }

    /// Judges what was counted for each task of a team while it was timed. To be called once it has ended, as
    /// others are looked for then.
    fn judge_timed_team(
        &mut self,
        cpus: &[u32],
        each: &[TaskReading],
        passed_ns: f64,
        operations: u64,
    ) {
        let counted = self.counted_team(cpus, each, passed_ns);
        // Each task may be an operation ahead or behind at either end.
        self.judge_timed_counts(counted, operations, 2 * each.len() as u64);
    }

    /// Tags all samples of a team if other programs ran on its CPUs meanwhile. To be called once the
    /// team has ended: its partners may spin while they wait.
    fn tag_background(
        &mut self,
        cpus: &[u32],
        seen: &PlacementRecord,
        used: &TaskReading,
        passed_ns: f64,
    ) {
        let others = match cpus == [self.cpu] {
            true => background::share(used, passed_ns),
            false => background::share_of_separate(&seen.cpus(), used, passed_ns),
        };
        let Some(others) = others else {
            return self.claim_waits_unknown();
        };
        self.detail("others_percent", 100.0 * others);
        // What is known of each sample is not said of all.
        if others > background::MAX_BACKGROUND && !self.waits.are_of_stretches() {
            self.explain(Cause::RunDelay, others);
            for sample in 0..self.findings.samples.values.len() as u32 {
                if !self.is_disturbed(sample) {
                    self.disturbed(sample, Cause::Preempted);
                }
            }
        }
    }

    /// Audits a team, while this process has no other thread, which a fork would not copy.
    fn audit_together<'t>(
        &mut self,
        cpus: &[u32],
        per_iteration: u64,
        make: Make<'_, 't>,
    ) -> Result<(), Failure> {
        let audited_iterations = self.affordable(AUDITED_TOGETHER).div_ceil(per_iteration);
        self.judge_audit(audited_iterations * per_iteration, &mut || {
            Team::audited(
                || {
                    let mut team = make(cpus)?;
                    // Every partner is at work once it has answered.
                    team.single()?;
                    team.driver.prepare()?;
                    Ok(team)
                },
                |team| team.driver.run(audited_iterations),
            )
        })
    }

    fn count_together<'t>(
        &mut self,
        cpus: &[u32],
        per_iteration: u64,
        make: Make<'_, 't>,
    ) -> Result<PlacementRecord, Failure> {
        self.audit_together(cpus, per_iteration, make)?;
        let known = self.findings.evidence.len();
        let seen = self
            .at_work(make(cpus)?, per_iteration, cpus)?
            .drive(|work| {
                let least = COUNTED_TOGETHER.max(COUNTED_PER_TASK * work.tasks() as u64);
                let least = self.affordable(least);
                let iterations = self
                    .iterations_lasting(COUNTED_NS, per_iteration, work)?
                    .clamp(least.div_ceil(per_iteration), 1 << 20);
                work.team.driver.prepare()?;
                // The first reading may fault on its own code and stack.
                let count = work.begin_count(&[]).and_then(|_| work.begin_count(&[]));
                work.team.driver.run(iterations)?;
                let counted = count.and_then(|count| count.end());
                self.done.operations += iterations * per_iteration;
                let counted =
                    counted.map(|(each, passed_ns)| self.counted_team(cpus, &each, passed_ns));
                self.judge_counts(counted, iterations * per_iteration);
                if let Some(expect) = self.find(|counter| counter == Counter::TimeScaling) {
                    work.is_on_one_cpu = cpus == [self.cpu];
                    let evidence = self.judge_scaling(expect, per_iteration, work)?;
                    self.findings.evidence.push(evidence);
                }
                Ok(())
            })?;
        // Once the partners have ended, which may spin while they wait.
        for evidence in &mut self.bencher.findings.evidence[known..] {
            if cpus != [self.cpu] && evidence.claim.id == ClaimId::of(&Counter::TimeScaling.claim())
            {
                let wanted = || background::is_on(cpus).then_some(background::WANTED);
                *evidence = evidence.clone().tolerated(wanted);
            }
        }
        Ok(seen)
    }
}
