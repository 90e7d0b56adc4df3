//! Shared: two tasks that wake each other in turn.

use std::fmt;
use std::sync::Arc;

use syscost_harness::prelude::*;
use syscost_sys::counters::TaskId;
use syscost_sys::partner::{Between, Shared};

use crate::sides::Padded;
pub(crate) use crate::sides::Side;

/// A value for each side, e.g. what it sleeps on, on separate cache lines.
pub(crate) struct Pair<T> {
    own: Padded<T>,
    partner: Padded<T>,
}

impl<T> Pair<T> {
    /// Creates both values.
    pub(crate) fn make<E>(mut one: impl FnMut() -> Result<T, E>) -> Result<Self, E> {
        Ok(Self {
            own: Padded(one()?),
            partner: Padded(one()?),
        })
    }

    /// The value of this side.
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

    /// Wakes this side.
    fn wake(&self, side: Side) -> Result<(), Self::Error>;

    /// Sleeps, as this side, until it is woken.
    fn sleep(&self, side: Side) -> Result<(), Self::Error>;
}

/// The cases between processes and between threads, for all placements on this machine.
pub(super) fn cases(_: &Here) -> Vec<Case> {
    Between::ALL
        .into_iter()
        .flat_map(|between| {
            Placement::here().into_iter().map(move |placement| {
                Case::new([
                    ("between", between.name()),
                    (Placement::KEY, placement.name()),
                ])
            })
        })
        .collect()
}

/// For mechanisms other than the pipe the quick profile has one placement.
pub(super) fn quick(case: &Case) -> bool {
    case.get("between") == Between::Processes.name() && case.get(Placement::KEY) == "same"
}

/// Whether only the full profile includes a case: tasks that go where the scheduler puts them, and
/// threads on two CPUs, which wake each other as processes do.
pub(super) fn full(case: &Case) -> bool {
    let is_on_one = case.get(Placement::KEY) == "same";
    case.get(Placement::KEY) == "free"
        || (case.get("between") != Between::Processes.name() && !is_on_one)
}

/// Whether the case is between processes or threads.
pub(super) fn between(case: &Case) -> Result<Between, Failure> {
    Value::parse(case.get("between")).ok_or_else(|| case.unknown("between"))
}

/// Measures round trips: the partner is woken and wakes back. Half of a round trip is a switch.
pub(super) fn measure<W: Wake>(
    b: &mut Bencher,
    make: impl Fn(Between) -> Result<W, Failure>,
) -> Result<(), Failure> {
    measure_round_trip(b, make)?;
    b.detail_times("switch_ns", 0.5);
    Ok(())
}

/// Measures round trips where half of one is not a switch.
pub(super) fn measure_round_trip<W: Wake>(
    b: &mut Bencher,
    make: impl Fn(Between) -> Result<W, Failure>,
) -> Result<(), Failure> {
    let between = between(b.case())?;
    b.together(Placement::of(b.case())?, |cpus| {
        round_trips(between, cpus, make(between)?)
    })
}

/// The measuring side of two tasks that wake each other in turn.
struct RoundTrips<W> {
    wake: Arc<W>,
    stop: Shared<Stop>,
}

impl<W: Wake> Lead for RoundTrips<W> {
    fn turns(&mut self, turns: u64) -> Result<(), Failure> {
        for _ in 0..turns {
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

/// Starts the partner, which answers each wake with one of its own.
pub(crate) fn round_trips<'t, W: Wake>(
    between: Between,
    cpus: &[u32],
    wake: W,
) -> Result<Team<'t>, Failure> {
    let wake = Arc::new(wake);
    let theirs = Arc::clone(&wake);
    let serve = |wake: &mut Arc<W>, stop: &Stop| {
        loop {
            wake.sleep(Side::Partner).map_err(failed)?;
            if stop.is_set() {
                return Ok(());
            }
            wake.wake(Side::Own).map_err(failed)?;
        }
    };
    let prepare = move || theirs.begin().map(|()| theirs);
    // If not even this works, the time limit ends the measurement.
    let hang_up = |wake: &mut Arc<W>| drop(wake.wake(Side::Own));
    let follower = Follower::start(between, cpus, prepare, serve, hang_up)?;
    wake.meet(follower.task());
    let stop = follower.stop();
    Ok(follower.led_by(RoundTrips { wake, stop }).map(drop))
}
