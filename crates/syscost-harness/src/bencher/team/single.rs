//! One task's share of an operation that several tasks do, timed alone: a waker's call.

use std::time::Instant;

use syscost_sys::Unsupported;
use syscost_sys::counters::{TaskId, TaskReading, TaskStat, Usage};
use syscost_sys::partner::Partner;

use super::{Make, PlacementRecord, Team, Together};
use crate::bencher::counts::{Counted, plus, since, sum};
use crate::bencher::evidence::{AUDITED_TOGETHER, Audited, COUNTED_TOGETHER, Without};
use crate::bencher::plan::Shape;
use crate::bencher::{Plan, background};
use crate::expect::Manner;
use crate::failure::Failure;

/// One task's share of what several do [`Together`].
pub struct OwnShare<M>(pub(super) Together<M>);

impl<'t, R: 't, M> Shape for OwnShare<M>
where
    M: Fn(&[u32]) -> Result<Team<'t, R>, Failure>,
{
    type Output = R;

    const MANNER: Manner = Manner::SinglesTogether;

    fn time(self, plan: &mut Plan) -> Result<R, Failure> {
        self.0.carry_out(plan, |plan, cpus, make| {
            let seen = plan.time_single_together(cpus, make)?;
            plan.audit_timed(|plan| plan.audit_single_together(cpus, make))?;
            Ok(seen)
        })
    }

    fn count(self, plan: &mut Plan) -> Result<R, Failure> {
        self.0.carry_out(plan, |plan, cpus, make| {
            plan.count_single_together(cpus, make)
        })
    }
}

impl Plan<'_> {
    fn time_single_together<'t>(
        &mut self,
        cpus: &[u32],
        make: Make<'_, 't>,
    ) -> Result<PlacementRecord, Failure> {
        let (mut used, mut passed_ns) = (TaskReading::default(), 0.0);
        let seen = self.at_work(make(cpus)?, 1, cpus)?.drive(|work| {
            work.look();
            let count = work.begin_count(&[])?;
            let driver = &mut work.team.driver;
            self.time_singles(driver, |driver| driver.prepare(), |driver| driver.run(1))?;
            let (each, for_ns) = count.end()?;
            passed_ns = for_ns;
            // Partners wait for each other; what its own have run is not others' time.
            used = TaskReading {
                delay_ns: each[0].delay_ns,
                ..sum(&each)
            };
            Ok(())
        })?;
        self.tag_background(cpus, &seen, &used, passed_ns);
        Ok(seen)
    }

    fn audit_single_together<'t>(
        &mut self,
        cpus: &[u32],
        make: Make<'_, 't>,
    ) -> Result<(), Failure> {
        self.judge_audit_without(Without::Preparation, AUDITED_TOGETHER, &mut |audited| {
            let make = || {
                let mut team = make(cpus)?;
                team.single()?;
                Ok(team)
            };
            Team::audited(make, |team| {
                for _ in 0..AUDITED_TOGETHER {
                    team.driver.prepare()?;
                    if audited == Audited::Operations {
                        team.driver.run(1)?;
                    }
                }
                // The effects of the last iteration end before the audit does.
                team.driver.prepare()
            })
        })
    }

    fn count_single_together<'t>(
        &mut self,
        cpus: &[u32],
        make: Make<'_, 't>,
    ) -> Result<PlacementRecord, Failure> {
        self.audit_single_together(cpus, make)?;
        self.at_work(make(cpus)?, 1, cpus)?.drive(|work| {
            let begun = Instant::now();
            let used = count_iterations(&mut work.team)?;
            let passed_ns = begun.elapsed().as_nanos() as f64;
            self.done.operations += COUNTED_TOGETHER;
            let is_on_one_cpu = cpus == [self.cpu];
            let others = is_on_one_cpu.then(|| background::share(&sum(&used), passed_ns));
            let counted = Counted::of_tasks(&used).beside(others.flatten(), passed_ns);
            self.judge_counts(Ok(counted), COUNTED_TOGETHER);
            Ok(())
        })
    }
}

/// Counts single iterations: for the measuring task what happens during its iterations, for its partners
/// also what follows from them. The times are those of all tasks, including preparations.
fn count_iterations(team: &mut Team<'_>) -> Result<Vec<TaskReading>, Failure> {
    let tasks = team.partners.iter().map(Partner::task);
    let others: Vec<TaskStat> = tasks.map(TaskStat::of).collect::<Result<_, _>>()?;
    let own = TaskStat::of(TaskId::own())?;
    let all = || -> Result<Vec<TaskReading>, Unsupported> {
        [&own]
            .into_iter()
            .chain(&others)
            .map(TaskStat::read)
            .collect()
    };
    let mut during = Usage::default();
    team.driver.prepare()?;
    let before = all()?;
    for _ in 0..COUNTED_TOGETHER {
        team.driver.prepare()?;
        let before = Usage::thread();
        team.driver.run(1)?;
        during = plus(during, since(before)?);
    }
    team.driver.prepare()?;
    let mut used = all()?;
    for (now, then) in used.iter_mut().zip(before) {
        *now = *now - then;
    }
    used[0] = TaskReading {
        voluntary_switches: during.voluntary_switches,
        involuntary_switches: during.involuntary_switches,
        minor_faults: during.minor_faults,
        major_faults: during.major_faults,
        ..used[0]
    };
    Ok(used)
}
