//! The cost of an operation of several tasks above that of baselines: their batches alternate.

use std::mem;

use syscost_results::ClaimId;
use syscost_stats::order::median;
use syscost_sys::counters::{TaskId, TaskReading};

use super::driver::Slot;
use super::{AtWork, Make, PlacementRecord, Team, Together};
use crate::bencher::Plan;
use crate::bencher::counts::sum;
use crate::bencher::plan::Shape;
use crate::bencher::timed::Batch;
use crate::expect::{self, Counter, Expect, Manner};
use crate::failure::Failure;

/// What is subtracted from the cost of an operation of several tasks: the cost of what another
/// team, or this task alone, does equally often.
pub struct Baseline<'m, 't> {
    /// Its name in claims, e.g. `the same work in one task`.
    pub name: &'static str,
    /// The detail with its cost, e.g. `same_work_ns`.
    pub detail: &'static str,
    /// Its expected counts. What is not declared is expected not to happen.
    pub expect: &'m [Expect],
    /// Operations per iteration.
    pub per_iteration: u64,
    /// Starts it, like the operation's own team. The team returns how many operations it has made, by
    /// its own count: what divides the time that is subtracted is held against it.
    pub make: Make<'m, 't, u64>,
}

/// The cost of an operation of several tasks above that of its baselines.
pub struct Difference<'b, 't, M> {
    whole: Together<M>,
    baselines: &'b [Baseline<'b, 't>],
}

impl<'b, 't, M> Difference<'b, 't, M> {
    pub(super) fn of(whole: Together<M>, baselines: &'b [Baseline<'b, 't>]) -> Self {
        Self { whole, baselines }
    }
}

impl<'t, R: 't, M> Shape for Difference<'_, 't, M>
where
    M: Fn(&[u32]) -> Result<Team<'t, R>, Failure>,
{
    type Output = R;

    const MANNER: Manner = Manner::Together;

    fn time(self, plan: &mut Plan) -> Result<R, Failure> {
        plan.forget_floor();
        let per_iteration = self.whole.per_iteration;
        self.whole.carry_out(plan, |plan, cpus, make| {
            let seen = plan.time_together_difference(cpus, per_iteration, make, self.baselines)?;
            plan.audit_timed(|plan| plan.audit_together(cpus, per_iteration, make))?;
            Ok(seen)
        })
    }

    fn count(self, plan: &mut Plan) -> Result<R, Failure> {
        plan.forget_floor();
        let per_iteration = self.whole.per_iteration;
        self.whole.carry_out(plan, |plan, cpus, make| {
            let mut seen = plan.count_together(cpus, per_iteration, make)?;
            for baseline in self.baselines {
                seen.extend(plan.count_baseline(cpus, baseline)?);
            }
            Ok(seen)
        })
    }
}

impl Plan<'_> {
    /// A difference has no floor in cycles.
    fn forget_floor(&mut self) {
        let floors = [Counter::CoreCycles, Counter::TimedCalls];
        self.declared
            .retain(|expect| !floors.contains(&expect.counter));
    }

    fn time_together_difference<'t>(
        &mut self,
        cpus: &[u32],
        per_iteration: u64,
        make: Make<'_, 't>,
        baselines: &[Baseline<'_, 't>],
    ) -> Result<PlacementRecord, Failure> {
        let mut work = self.at_work(make(cpus)?, per_iteration, cpus)?;
        let counts: Vec<Slot<u64>> = baselines.iter().map(|_| Slot::empty()).collect();
        let made = baselines.iter().zip(&counts).map(|(baseline, count)| {
            let team = (baseline.make)(cpus)?.handing_to(count);
            AtWork::new(team, baseline.per_iteration)
        });
        let mut others = made.collect::<Result<Vec<_>, _>>()?;
        let partners = others.iter().flat_map(|other| &other.ids()[1..]);
        let tasks: Vec<TaskId> = work.ids().iter().chain(partners).copied().collect();
        // The baselines' partners are where those of the team are.
        self.waits = self.waits_of(&tasks, work.ids().len() - 1, cpus);
        match self.time_legs_beside(&mut work, &mut others, baselines) {
            Ok((used, passed_ns, made)) => {
                let mut seen = work.dismiss()?;
                for other in others {
                    seen.extend(other.dismiss()?);
                }
                for ((baseline, count), made) in baselines.iter().zip(&counts).zip(made) {
                    self.claim_made(baseline, made, count)?;
                }
                self.tag_background(cpus, &seen, &used, passed_ns);
                Ok(seen)
            }
            Err(failure) => {
                let teams = [work].into_iter().chain(others);
                Err(Team::explain(teams.map(|one| one.team), failure))
            }
        }
    }

    /// Takes the samples. Returns what all tasks used meanwhile, how long it took, in ns, and how many
    /// operations of each baseline were made.
    fn time_legs_beside(
        &mut self,
        work: &mut AtWork<'_>,
        others: &mut [AtWork<'_>],
        baselines: &[Baseline<'_, '_>],
    ) -> Result<(TaskReading, f64, Vec<u64>), Failure> {
        let count = work.begin_count(others)?;
        let made = self.time_legs(work, others, baselines)?;
        let (each, passed_ns) = count.end()?;
        Ok((sum(&each), passed_ns, made))
    }

    /// Takes the samples, with batches of all legs in rotation. Returns how many operations of each
    /// baseline were made.
    fn time_legs(
        &mut self,
        work: &mut AtWork<'_>,
        others: &mut [AtWork<'_>],
        baselines: &[Baseline<'_, '_>],
    ) -> Result<Vec<u64>, Failure> {
        let batch = self.prepare_batches(work.per_iteration, work)?;
        let operations = batch.iterations * work.per_iteration;
        let mut costs = vec![Vec::new(); others.len()];
        let mut shortest = f64::INFINITY;
        // The first iteration of each was made when it was started.
        let mut made: Vec<u64> = baselines.iter().map(|one| one.per_iteration).collect();
        self.sample(operations, |plan| {
            plan.wait_before_sample();
            // A B A: an even drift during a sample cancels.
            let mut around = Vec::with_capacity(2 * others.len());
            for (other, made) in others.iter_mut().zip(&mut made) {
                let (ns, done) = plan.time_leg(other, batch, operations)?;
                around.push(ns);
                *made += done;
            }
            let (raw, done) = plan.time_leg(work, batch, operations)?;
            // Operations of the baselines are not the benchmark's: its reports are per operation
            // of its own team.
            plan.done.operations += done;
            for (other, made) in others.iter_mut().zip(&mut made).rev() {
                let (ns, done) = plan.time_leg(other, batch, operations)?;
                around.push(ns);
                *made += done;
            }
            shortest = shortest.min(raw * operations as f64);
            let without = (0..costs.len())
                .map(|index| (around[index] + around[around.len() - 1 - index]) / 2.0);
            for (costs, ns) in costs.iter_mut().zip(without.clone()) {
                costs.push(ns);
            }
            Ok((raw - without.sum::<f64>(), Some(raw)))
        })?;
        self.findings.grain *= 1.0 + others.len() as f64;
        self.note_overhead(shortest);
        for (baseline, costs) in baselines.iter().zip(&costs) {
            self.detail(baseline.detail, median(costs).unwrap_or(f64::NAN));
            self.done.subtracted.push(baseline.name);
        }
        Ok(made)
    }

    /// Claims that a baseline's tasks made as many operations as its time was divided by.
    fn claim_made(
        &mut self,
        baseline: &Baseline<'_, '_>,
        made: u64,
        counted: &Slot<u64>,
    ) -> Result<(), Failure> {
        let claim = format!("{}: operations by its own count", baseline.name);
        self.claim_equal(&claim, made, counted.take()?, "baseline");
        Ok(())
    }

    /// Times this many operations of a team, in ns per operation, after untimed ones that bring
    /// back the caches the last leg took. Returns how many it made.
    fn time_leg(
        &mut self,
        work: &mut AtWork<'_>,
        batch: Batch,
        operations: u64,
    ) -> Result<(f64, u64), Failure> {
        let iterations = operations.div_ceil(work.per_iteration);
        let warm_up = batch.split(iterations).warm_up(work).max(1);
        let ns = self.time_warm(work, iterations, warm_up)?;
        let ns = ns / (iterations * work.per_iteration) as f64;
        Ok((ns, (warm_up + iterations) * work.per_iteration))
    }

    /// Counts what a baseline does, and compares it with the baseline's own expectations.
    fn count_baseline(
        &mut self,
        cpus: &[u32],
        baseline: &Baseline<'_, '_>,
    ) -> Result<PlacementRecord, Failure> {
        let expected = expect::complete(baseline.expect, Manner::Together, 1);
        let declared = mem::replace(&mut self.declared, expected);
        let (known, operations) = (self.findings.evidence.len(), self.done.operations);
        let counted = Slot::empty();
        let make = |cpus: &[u32]| Ok((baseline.make)(cpus)?.handing_to(&counted));
        let seen = self.count_together(cpus, baseline.per_iteration, &make);
        self.declared = declared;
        let made = self.done.operations - operations;
        self.done.operations = operations;
        self.done.subtracted.push(baseline.name);
        for evidence in &mut self.findings.evidence[known..] {
            let claim = &mut evidence.claim;
            claim.sentence = format!("{}: {}", baseline.name, claim.sentence);
            claim.id = ClaimId::of(&format!("{} {}", baseline.name, claim.id.as_str()));
        }
        let seen = seen?;
        self.claim_made(baseline, made, &counted)?;
        Ok(seen)
    }
}
