//! A partner that answers the measuring task, turn after turn.

use syscost_sys::counters::TaskId;
use syscost_sys::partner::{Between, Shared};

use super::Team;
use super::crew::Crew;
use super::lead::Lead;
use super::stop::Stop;
use crate::failure::Failure;

/// The one partner of a team of two that take turns: it waits until its turn comes, answers, and waits again. It comes to a `T` at its
/// end, of what it counted: plain numbers, which mean the same in any process.
///
/// If it fails, the measuring task is not left asleep, and is told why.
#[derive(Debug)]
pub struct Follower<T = ()> {
    crew: Crew<T>,
    task: TaskId,
}

impl<T: Copy + Send + 'static> Follower<T> {
    /// Starts it on these CPUs, and returns when it is ready.
    ///
    /// - `prepare` makes, in the follower, its end of what the two have between them.
    /// - `serve` answers at this end, turn after turn. When it has been woken and finds the stop set, that was no turn any more: it returns what it
    ///   counted.
    /// - `hang_up` is called if it fails. It lets the measuring task, which may sleep until it is answered, find out that nobody will.
    ///   Where the kernel does, as for the two ends of a pipe, it may be `|_| {}`.
    ///
    /// # Errors
    /// When there can be no such task, or with what `prepare` returned.
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

    /// Which task it is.
    pub fn task(&self) -> TaskId {
        self.task
    }

    /// What stops it. Set before the end, it tells that the follower has failed.
    pub fn stop(&self) -> Shared<Stop> {
        self.crew.stop()
    }

    /// The team of it and the measuring task. The lead and what the follower came to is what comes back of it. [`Lead::end`] has to wake the
    /// follower once more.
    pub fn led_by<'t, L: Lead + 't>(self, lead: L) -> Team<'t, (L, T)> {
        let missing = || Failure::Failed("the partner ended and told nothing".into());
        self.crew.led_by(lead).then(move |(lead, accounts)| {
            Ok((lead, accounts.first().copied().ok_or_else(missing)?))
        })
    }
}
