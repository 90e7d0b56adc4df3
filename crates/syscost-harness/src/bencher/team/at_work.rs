//! A team at work: its loop, what the kernel counts for it, and where it was seen.

use std::time::Instant;

use syscost_sys::counters::{TaskId, TaskPlace, TaskReading, TaskStat};
use syscost_sys::partner::Partner;
use syscost_sys::{Unsupported, cpu};

use super::Team;
use super::between::groups_of;
use super::placing::PlacementRecord;
use crate::bencher::body::Body;
use crate::bencher::laps::Laps;
use crate::failure::Failure;

/// A team at work: its loop, and which tasks it has and where they are.
pub(super) struct AtWork<'t> {
    pub(super) team: Team<'t>,
    pub(super) per_iteration: u64,
    tasks: Vec<TaskId>,
    places: Vec<TaskPlace>,
    seen: PlacementRecord,
    batches: usize,
    /// Whether all its tasks are on the measuring one's CPU, so that it is known how much of it others use.
    pub(super) is_on_one_cpu: bool,
    /// Whether it is looked up between batches where its tasks are: not while these should sleep
    /// undisturbed on CPUs of their own.
    pub(super) is_looked_up: bool,
    prepared: Result<(), Failure>,
}

impl<'t> AtWork<'t> {
    /// Takes a team and does one iteration, so that every partner is ready before the first that
    /// counts.
    pub(super) fn new(mut team: Team<'t>, per_iteration: u64) -> Result<Self, Failure> {
        let own = [TaskId::own()].into_iter();
        let tasks: Vec<TaskId> = own.chain(team.partners.iter().map(Partner::task)).collect();
        let places = team.single().and_then(|()| {
            let places = tasks.iter().map(|task| TaskPlace::of(*task));
            Ok(places.collect::<Result<_, _>>()?)
        });
        match places {
            Ok(places) => Ok(Self {
                places,
                team,
                per_iteration,
                tasks,
                seen: PlacementRecord::default(),
                batches: 0,
                is_on_one_cpu: false,
                is_looked_up: true,
                prepared: Ok(()),
            }),
            Err(failure) => Err(Team::explain([team], failure)),
        }
    }

    /// Runs the measurement with the team, then ends it.
    pub(super) fn drive(
        mut self,
        measure: impl FnOnce(&mut Self) -> Result<(), Failure>,
    ) -> Result<PlacementRecord, Failure> {
        match measure(&mut self) {
            Ok(()) => self.dismiss(),
            Err(failure) => Err(Team::explain([self.team], failure)),
        }
    }

    /// What the kernel has counted for all its tasks together.
    pub(super) fn read(&self) -> Result<TaskReading, Unsupported> {
        counted_for(&self.tasks)
    }

    /// Begins to count for this team and others that have the same measuring task.
    pub(super) fn begin_count(&self, others: &[Self]) -> Result<Count, Unsupported> {
        let partners = others.iter().flat_map(|other| &other.tasks[1..]);
        Count::begin(self.tasks.iter().chain(partners).copied().collect())
    }

    /// Its tasks, the measuring one first.
    pub(super) fn ids(&self) -> &[TaskId] {
        &self.tasks
    }

    pub(super) fn tasks(&self) -> usize {
        self.tasks.len()
    }

    /// Records where its tasks are, the measuring one first.
    pub(super) fn look(&mut self) {
        let now = self.places.iter().map(TaskPlace::processor).collect();
        self.seen.note(now);
    }

    /// Records a last time where its tasks are, and of which processes, and ends the team.
    pub(super) fn dismiss(mut self) -> Result<PlacementRecord, Failure> {
        self.look();
        self.seen.note_groups(groups_of(self.tasks.iter().copied()));
        let partners = self.tasks[1..].iter();
        self.seen
            .note_may_use(partners.filter_map(|task| cpu::allowed_to(*task)));
        self.team.dismiss()?;
        Ok(self.seen)
    }
}

/// What the kernel counts for some tasks, the measuring one first, from a moment on.
pub(super) struct Count {
    tasks: Vec<TaskId>,
    before: Vec<TaskReading>,
    begun: Instant,
}

impl Count {
    /// The measuring task is read last here, and first at the end: what befalls it while it reads
    /// the others' files is not counted.
    fn begin(tasks: Vec<TaskId>) -> Result<Self, Unsupported> {
        let before = read_each(tasks.iter().rev()).collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            before: before.into_iter().rev().collect(),
            tasks,
            begun: Instant::now(),
        })
    }

    /// What was counted for each since, and for how long, in ns.
    pub(super) fn end(&self) -> Result<(Vec<TaskReading>, f64), Unsupported> {
        let passed_ns = self.begun.elapsed().as_nanos() as f64;
        let now = read_each(&self.tasks).zip(&self.before);
        let used = now.map(|(now, before)| Ok(now? - *before));
        Ok((used.collect::<Result<_, Unsupported>>()?, passed_ns))
    }
}

/// What the kernel has counted for each of these tasks. Their files are opened one task after the
/// other: many tasks have more files than a process may have open.
fn read_each<'i>(
    tasks: impl IntoIterator<Item = &'i TaskId>,
) -> impl Iterator<Item = Result<TaskReading, Unsupported>> {
    tasks.into_iter().map(|task| TaskStat::of(*task)?.read())
}

/// The sum of what it has counted for these tasks.
fn counted_for<'i>(
    tasks: impl IntoIterator<Item = &'i TaskId>,
) -> Result<TaskReading, Unsupported> {
    let mut readings = read_each(tasks);
    let first = readings.next().unwrap_or(Ok(TaskReading::default()))?;
    readings.try_fold(first, |sum, reading| Ok(sum + reading?))
}

impl Body for AtWork<'_> {
    fn max_iterations(&self) -> u64 {
        self.team.max_iterations
    }

    fn before(&mut self, _: u64) {
        self.prepared = self.team.driver.prepare();
    }

    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        self.prepared.clone()?;
        self.team.driver.run(iterations)
    }

    fn after(&mut self, _: u64) -> Result<(), Failure> {
        self.team.driver.check()?;
        self.batches += 1;
        // Looking up many tasks takes longer than a batch and fills the caches with data of /proc.
        if self.is_looked_up && self.batches.is_multiple_of((self.tasks.len() / 2).max(1)) {
            self.look();
        }
        Ok(())
    }

    fn was_disturbed(&self) -> bool {
        self.team.driver.was_disturbed()
    }

    fn is_prepared(&self) -> bool {
        self.team.is_prepared
    }

    fn counted(&self) -> Option<TaskReading> {
        self.is_on_one_cpu.then(|| self.read().ok()).flatten()
    }

    fn laps(&mut self) -> Option<&mut Laps> {
        self.team.driver.laps()
    }

    fn far_core_is_exclusive(&mut self) -> Result<Option<bool>, Failure> {
        self.team.driver.far_core_is_exclusive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syscost_sys::or_skip;

    #[test]
    fn tasks_that_sleep_are_not_looked_up_between_their_batches() {
        for (is_looked_up, looks) in [(true, 3), (false, 0)] {
            let team = Team::new(Vec::new(), |_| Ok(())).map(drop);
            let mut work = or_skip!(AtWork::new(team, 1));
            work.is_looked_up = is_looked_up;
            for _ in 0..3 {
                work.after(1).expect("nothing to check");
            }
            assert_eq!(work.seen.count(), looks);
        }
    }
}
