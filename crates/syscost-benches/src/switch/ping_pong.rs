//! Shared: two tasks that wake each other in turn.

use std::fmt;
use std::sync::Arc;

use syscost_harness::prelude::*;
use syscost_results::details::SWITCH;

use crate::sides::Padded;
pub(crate) use crate::sides::Side;

/// A value for each side, e.g. what it sleeps on, on separate cache lines.
pub(crate) struct Pair<T> {
    own: Padded<T>,
    partner: Padded<T>,
}

impl<T> Pair<T> {
    pub(crate) fn make<E>(mut one: impl FnMut() -> Result<T, E>) -> Result<Self, E> {
        Ok(Self {
            own: Padded(one()?),
            partner: Padded(one()?),
        })
    }

    pub(crate) fn of(&self, side: Side) -> &T {
        match side {
            Side::Own => &self.own.0,
            Side::Partner => &self.partner.0,
        }
    }
}

/// Puts a value into memory that threads and processes share.
pub(super) fn share<T: Send + Sync + 'static>(value: T) -> Result<Shared<T>, Failure> {
    Ok(Shared::new(value)?)
}

/// A way for the two to wake each other.
pub(crate) trait Wake: Send + Sync + 'static {
    /// The error of a failed call.
    type Error: fmt::Display;

    /// Called on the measuring side with its partner, before it first wakes it.
    fn meet(&self, _partner: TaskId) {}

    /// Called first in the partner.
    fn begin(&self) -> Result<(), Failure> {
        Ok(())
    }

    fn wake(&self, side: Side) -> Result<(), Self::Error>;

    /// Sleeps, as this side, until it is woken.
    fn sleep(&self, side: Side) -> Result<(), Self::Error>;
}

/// What the two are, and where.
#[derive(Params, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tasks {
    pub(super) between: Between,
    pub(super) cpus: Placement,
}

impl Tasks {
    /// Tasks that go where the scheduler puts them, and threads on two CPUs, which wake each other as
    /// processes do, are in the full profile only.
    pub(super) fn usual_profile(self) -> Profile {
        let is_on_one = self.cpus == Placement::SAME;
        match self.between {
            Between::Processes if self.cpus != Placement::Free => Profile::Standard,
            Between::Threads if is_on_one => Profile::Standard,
            Between::Processes | Between::Threads => Profile::Full,
        }
    }
}

/// A way for two tasks to wake each other that is a benchmark.
pub(super) trait Mechanism {
    /// Which profiles measure it between these tasks.
    fn profile(tasks: Tasks) -> Profile {
        tasks.usual_profile()
    }

    fn measure(tasks: Tasks, plan: Plan) -> Result<Outcome, Failure>;
}

impl<M: Mechanism> Measured<M> for Tasks {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(Tasks {
            between: Between::ALL,
            cpus: Placement::among(&here.allowed)
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        M::profile(*self)
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        TasksProofs {
            between: Proof::by_tasks(),
            cpus: Proof::by_tasks(),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        M::measure(self, plan)
    }
}

/// Measures round trips: the partner is woken and wakes back. Half of a round trip is a switch.
pub(super) fn measure<W: Wake>(
    plan: Plan,
    Tasks { between, cpus }: Tasks,
    make: impl Fn(Between) -> Result<W, Failure>,
) -> Result<Outcome, Failure> {
    let make = |cpus: &[u32]| round_trips(between, cpus, make(between)?);
    let (mut outcome, answered) = plan.measure(Together::of(cpus, make))?.split();
    let operations = outcome.operations();
    outcome.claim_equal(
        "round trips that the partner answered",
        operations,
        answered,
        "partner",
    );
    outcome.detail_each_turn(SWITCH);
    Ok(outcome)
}

/// The measuring side of two tasks that wake each other in turn.
struct RoundTrips<W> {
    wake: Arc<W>,
    stop: Shared<Stop>,
}

impl<W: Wake> Driver for RoundTrips<W> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            self.wake.wake(Side::Partner).map_err(failed)?;
            self.wake.sleep(Side::Own).map_err(failed)?;
            self.stop.check()?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.wake.wake(Side::Partner).map_err(failed)
    }
}

fn failed(error: impl fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}

/// Starts the partner, which answers each wake with one of its own. The team returns how many it
/// answered.
pub(crate) fn round_trips<'t, W: Wake>(
    between: Between,
    cpus: &[u32],
    wake: W,
) -> Result<Team<'t, u64>, Failure> {
    let wake = Arc::new(wake);
    let theirs = Arc::clone(&wake);
    let serve = |wake: &mut Arc<W>, stop: &Stop| {
        let mut answered = 0;
        loop {
            wake.sleep(Side::Partner).map_err(failed)?;
            if stop.is_set() {
                return Ok(answered);
            }
            wake.wake(Side::Own).map_err(failed)?;
            answered += 1;
        }
    };
    let prepare = move || theirs.begin().map(|()| theirs);
    // If not even this works, the time limit ends the measurement.
    let wake_waiters = |wake: &mut Arc<W>| drop(wake.wake(Side::Own));
    let responder = Responder::start(between, cpus, prepare, serve, wake_waiters)?;
    wake.meet(responder.task());
    let stop = responder.stop();
    let team = responder.driven_by(RoundTrips { wake, stop });
    Ok(team.map(|(_, answered)| answered))
}
