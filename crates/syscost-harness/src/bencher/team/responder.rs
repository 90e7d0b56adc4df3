//! A partner that answers the measuring task turn by turn.

use syscost_sys::counters::TaskId;
use syscost_sys::partner::{Between, Shared};

use super::Team;
use super::driver::Driver;
use super::stop::Stop;
use super::task_group::TaskGroup;
use crate::failure::Failure;

/// The partner in a team of two that take turns: it waits for its turn, answers, and waits again.
/// In the end it returns a `T` of what it counted: plain numbers, which mean the same in any
/// process.
///
/// If it fails, the measuring task is woken and gets the reason.
#[derive(Debug)]
pub struct Responder<T = ()> {
    workers: TaskGroup<T>,
    task: TaskId,
}

impl<T: Copy + Send + 'static> Responder<T> {
    /// Starts it on these CPUs, and returns when it is ready.
    ///
    /// - `prepare` makes, in the responder, its end of the channel between the two.
    /// - `serve` answers at this end, turn by turn. Woken with the stop set, it returns what it counted:
    ///   that wake-up is not an iteration.
    /// - `wake_waiters` is called if it fails. It wakes the measuring task, which may be waiting
    ///   for an answer. Where the kernel does so, as for the two ends of a pipe, it may be `|_|
    ///   {}`.
    ///
    /// # Errors
    /// When the task cannot be started, or with the error of `prepare`.
    pub fn start<N: 'static, E: Into<Failure>>(
        between: Between,
        cpus: &[u32],
        prepare: impl FnOnce() -> Result<N, E> + Send + 'static,
        serve: impl FnOnce(&mut N, &Stop) -> Result<T, E> + Send + 'static,
        wake_waiters: fn(&mut N),
    ) -> Result<Self, Failure> {
        let mut workers = TaskGroup::new(between)?;
        workers.add_with(cpus, prepare, serve, wake_waiters)?;
        let task = workers.tasks().next().expect("one was added");
        Ok(Self { workers, task })
    }

    /// The responder's task.
    pub fn task(&self) -> TaskId {
        self.task
    }

    /// The responder's stop. If it is set before the end, the responder has failed.
    pub fn stop(&self) -> Shared<Stop> {
        self.workers.stop()
    }

    /// The team of the responder and the measuring task. It returns the driver and the responder's
    /// result. [`Driver::end`] has to wake the responder once more.
    pub fn driven_by<'t, L: Driver + 't>(self, driver: L) -> Team<'t, (L, T)> {
        let missing = || Failure::Failed("the partner ended without a result".into());
        self.workers
            .driven_by(driver)
            .then(move |(driver, accounts)| {
                Ok((driver, accounts.first().copied().ok_or_else(missing)?))
            })
    }
}
