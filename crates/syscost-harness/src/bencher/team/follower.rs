//! A partner that answers the measuring task turn by turn.

use syscost_sys::counters::TaskId;
use syscost_sys::partner::{Between, Shared};

use super::Team;
use super::crew::Crew;
use super::lead::Lead;
use super::stop::Stop;
use crate::failure::Failure;

/// The partner in a team of two that take turns: it waits for its turn, answers, and waits again.
/// In the end it returns a `T` of what it counted: plain numbers, which mean the same in any
/// process.
///
/// If it fails, the measuring task is woken and gets the reason.
#[derive(Debug)]
pub struct Follower<T = ()> {
    crew: Crew<T>,
    task: TaskId,
}

impl<T: Copy + Send + 'static> Follower<T> {
    /// Starts it on these CPUs, and returns when it is ready.
    ///
    /// - `prepare` makes, in the follower, its end of the channel between the two.
    /// - `serve` answers at this end, turn by turn. Woken with the stop set, it returns what it counted:
    ///   that wake-up is not a turn.
    /// - `hang_up` is called if it fails. It wakes the measuring task, which may be waiting for an answer.
    ///   Where the kernel does so, as for the two ends of a pipe, it may be `|_| {}`.
    ///
    /// # Errors
    /// When the task cannot be started, or with the error of `prepare`.
    pub fn start<N: 'static, E: Into<Failure>>(
        between: Between,
        cpus: &[u32],
        prepare: impl FnOnce() -> Result<N, E> + Send + 'static,
        serve: impl FnOnce(&mut N, &Stop) -> Result<T, E> + Send + 'static,
        hang_up: fn(&mut N),
    ) -> Result<Self, Failure> {
        let mut crew = Crew::new(between)?;
        crew.add_with(cpus, prepare, serve, hang_up)?;
        let task = crew.tasks().next().expect("one was added");
        Ok(Self { crew, task })
    }

    /// The follower's task.
    pub fn task(&self) -> TaskId {
        self.task
    }

    /// The follower's stop. If it is set before the end, the follower has failed.
    pub fn stop(&self) -> Shared<Stop> {
        self.crew.stop()
    }

    /// The team of the follower and the measuring task. It returns the lead and the follower's result.
    /// [`Lead::end`] has to wake the follower once more.
    pub fn led_by<'t, L: Lead + 't>(self, lead: L) -> Team<'t, (L, T)> {
        let missing = || Failure::Failed("the partner ended without a result".into());
        self.crew.led_by(lead).then(move |(lead, accounts)| {
            Ok((lead, accounts.first().copied().ok_or_else(missing)?))
        })
    }
}
