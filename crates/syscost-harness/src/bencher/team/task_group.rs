//! Workers that run until they are stopped, and then return what they did.

use syscost_sys::counters::TaskId;
use syscost_sys::partner::{Between, Partner, Shared, Slot};

use super::Team;
use super::driver::Driver;
use super::stop::{Stop, Stopper};
use crate::failure::Failure;

/// Partners that work side by side until they are stopped: all together, by the measuring task or by
/// one of them that failed. Each returns a `T` of what it counted: plain numbers, which mean the
/// same in any process.
///
/// Dropping it stops its workers and kills those that are processes.
#[derive(Debug)]
pub struct TaskGroup<T = ()> {
    between: Between,
    stop: Stopper,
    partners: Vec<Partner>,
    accounts: Vec<Shared<Slot<T>>>,
}

impl<T: Copy + Send + 'static> TaskGroup<T> {
    /// A task group without workers, which will be threads or processes.
    ///
    /// # Errors
    /// When no memory can be shared.
    pub fn new(between: Between) -> Result<Self, Failure> {
        Ok(Self {
            between,
            stop: Stopper(Shared::new(Stop::default())?),
            partners: Vec::new(),
            accounts: Vec::new(),
        })
    }

    /// Starts a worker on these CPUs, and returns when it is ready: when it has finished `prepare`.
    /// Its `work` continues until the stop is set; a worker that returns earlier, with or
    /// without an error, stops all.
    ///
    /// # Errors
    /// When the task cannot be started, or with the error of `prepare`.
    pub fn add<N: 'static, E: Into<Failure>>(
        &mut self,
        cpus: &[u32],
        prepare: impl FnOnce() -> Result<N, E> + Send + 'static,
        work: impl FnOnce(&mut N, &Stop) -> Result<T, E> + Send + 'static,
    ) -> Result<(), Failure> {
        self.add_with(cpus, prepare, work, |_| {})
    }

    /// As [`TaskGroup::add`], for a worker that others may wait for: if it returns too early,
    /// `wake_waiters` wakes the tasks that sleep until it answers.
    pub(super) fn add_with<N: 'static, E: Into<Failure>>(
        &mut self,
        cpus: &[u32],
        prepare: impl FnOnce() -> Result<N, E> + Send + 'static,
        work: impl FnOnce(&mut N, &Stop) -> Result<T, E> + Send + 'static,
        wake_waiters: fn(&mut N),
    ) -> Result<(), Failure> {
        let account = Shared::new(Slot::default())?;
        let (stop, stop_before, put) = (self.stop(), self.stop(), account.clone());
        let prepare = move || prepare().map_err(|error| stop_before.fail(error));
        let work = move |mut end: N| {
            let mut leave = Leave {
                end: &mut end,
                stop: &stop,
                wake_waiters,
                is_well: false,
            };
            let counted = work(leave.end, &stop).map_err(|error| stop.fail(error))?;
            put.put(counted);
            leave.is_well = true;
            Ok(())
        };
        let partner = Partner::start_prepared(self.between, cpus, prepare, work)
            .map_err(|error| self.stop.failure(error.to_string()))?;
        self.partners.push(partner);
        self.accounts.push(account);
        Ok(())
    }

    /// The stop of all workers.
    pub fn stop(&self) -> Shared<Stop> {
        self.stop.0.clone()
    }

    /// The tasks of all workers.
    pub fn tasks(&self) -> impl Iterator<Item = TaskId> {
        self.partners.iter().map(Partner::task)
    }

    /// Whether a worker has ended, with or without an error, or is about to. One system call
    /// each.
    pub fn has_lost_one(&self) -> bool {
        self.partners.iter().any(Partner::has_ended)
    }

    /// Stops all workers, since one has ended too early, and returns its error.
    pub(in crate::bencher) fn failure(&mut self) -> Failure {
        self.stop.0.set();
        let mut ended = self.partners.drain(..).map(Partner::join);
        match ended.find_map(Result::err) {
            Some(error) => self.stop.failure(error.to_string()),
            None => Failure::Failed("a partner ended early without a reason".into()),
        }
    }

    /// Stops all workers, and waits until each has ended; returns their results, in the order in which they
    /// were added.
    pub fn dismiss(self) -> Result<Vec<T>, Failure> {
        let team = self.driven_by(|_| Ok(()));
        team.perform([]).map(|(_, accounts)| accounts)
    }

    /// The team of these workers and the measuring task. It returns the driver and the workers'
    /// results.
    pub fn driven_by<'t, L: Driver + 't>(self, driver: L) -> Team<'t, (L, Vec<T>)> {
        let TaskGroup {
            stop,
            partners,
            accounts,
            ..
        } = self;
        Team::new(partners, driver)
            .stopped_by(stop)
            .then(move |driver| {
                let missing = || Failure::Failed("a partner ended without a result".into());
                let all = accounts.iter().map(|slot| slot.get().ok_or_else(missing));
                Ok((driver, all.collect::<Result<_, _>>()?))
            })
    }
}

/// Stops all when a worker ends too early.
struct Leave<'a, N> {
    end: &'a mut N,
    stop: &'a Stop,
    wake_waiters: fn(&mut N),
    is_well: bool,
}

impl<N> Drop for Leave<'_, N> {
    fn drop(&mut self) {
        if !self.is_well || !self.stop.is_set() {
            self.stop.set();
            (self.wake_waiters)(self.end);
        }
    }
}

#[cfg(test)]
mod tests;
