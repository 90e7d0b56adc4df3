//! Shared: two tasks that wake each other in turn.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use syscost_harness::prelude::*;
use syscost_sys::counters::TaskId;
use syscost_sys::partner::{Between, Partner, Shared};

/// One of the two tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The measuring one, which wakes first.
    Own,
    /// The other one.
    Partner,
}

impl Side {
    /// Both.
    pub(super) const BOTH: [Side; 2] = [Side::Own, Side::Partner];
}

/// One of a kind for each side, e.g. what it sleeps on, out of the way of the other's cache line.
pub(super) struct Pair<T> {
    own: Apart<T>,
    partner: Apart<T>,
}

/// As far apart as any processor fetches lines together.
#[repr(align(128))]
struct Apart<T>(T);

impl<T> Pair<T> {
    /// Makes both.
    pub(super) fn make<E>(mut one: impl FnMut() -> Result<T, E>) -> Result<Self, E> {
        Ok(Self {
            own: Apart(one()?),
            partner: Apart(one()?),
        })
    }

    /// That of this side.
    pub(super) fn of(&self, side: Side) -> &T {
        match side {
            Side::Own => &self.own.0,
            Side::Partner => &self.partner.0,
        }
    }
}

/// Puts a value where threads and processes share it.
pub(super) fn share<T: Send + Sync + 'static>(value: T) -> Result<Shared<T>, Failure> {
    Shared::new(value).map_err(|error| Failure::Failed(error.to_string()))
}

/// How the two wake each other.
pub(super) trait Wake: Send + Sync + 'static {
    /// What can go wrong.
    type Error: fmt::Display;

    /// Tells the measuring side who its partner is, before it wakes it.
    fn meet(&self, _partner: TaskId) {}

    /// Lets this side go on.
    fn wake(&self, side: Side) -> Result<(), Self::Error>;

    /// Sleeps, as this side, until it is woken.
    fn sleep(&self, side: Side) -> Result<(), Self::Error>;
}

/// Between processes and threads, wherever the CPUs of this machine allow.
pub(super) fn cases() -> Vec<Case> {
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

/// Of the ways beside the pipe, people look first at one place.
pub(super) fn quick(case: &Case) -> bool {
    case.get("between") == Between::Processes.name() && case.get(Placement::KEY) == "same"
}

/// What the case is between.
pub(super) fn between(case: &Case) -> Result<Between, Failure> {
    Between::from_name(case.get("between"))
        .ok_or_else(|| Failure::Broken("does not say between what".into()))
}

/// Measures round trips: the partner is woken and wakes back. Half of one, a switch, is told beside.
pub(super) fn measure<W: Wake>(
    b: &mut Bencher,
    make: impl Fn(Between) -> Result<W, Failure>,
) -> Result<(), Failure> {
    measure_round_trip(b, make)?;
    if let Some(round_trip) = b.median() {
        b.detail("switch_ns", round_trip / 2.0);
    }
    Ok(())
}

/// The same where half of a round trip is not one switch.
pub(super) fn measure_round_trip<W: Wake>(
    b: &mut Bencher,
    make: impl Fn(Between) -> Result<W, Failure>,
) -> Result<(), Failure> {
    let between = between(b.case())?;
    b.together(Placement::of(b.case())?, |cpus| {
        round_trips(between, cpus, make(between)?)
    })
}

fn round_trips<'t, W: Wake>(between: Between, cpus: &[u32], wake: W) -> Result<Team<'t>, Failure> {
    let wake = Arc::new(wake);
    let over = share(AtomicBool::new(false))?;
    let failed = |error: W::Error| Failure::Failed(error.to_string());
    let (theirs, is_over) = (Arc::clone(&wake), over.clone());
    let partner = Partner::start(between, cpus, move || {
        loop {
            theirs.sleep(Side::Partner)?;
            if is_over.load(Ordering::Relaxed) {
                return Ok::<(), W::Error>(());
            }
            theirs.wake(Side::Own)?;
        }
    })
    .map_err(|error| Failure::Failed(error.to_string()))?;
    wake.meet(partner.task());
    let last = Arc::clone(&wake);
    Ok(Team::new(
        vec![partner],
        move |turns| {
            for _ in 0..turns {
                wake.wake(Side::Partner).map_err(failed)?;
                wake.sleep(Side::Own).map_err(failed)?;
            }
            Ok(())
        },
        move || {
            over.store(true, Ordering::Relaxed);
            last.wake(Side::Partner).map_err(failed)
        },
    ))
}
