//! Shared: two tasks that wake each other in turn.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use syscost_harness::prelude::*;
use syscost_sys::counters::TaskId;
use syscost_sys::partner::{Between, Partner, Shared};

use crate::sides::Padded;
pub(super) use crate::sides::Side;

/// One of a kind for each side, e.g. what it sleeps on, out of the way of the other's cache line.
pub(super) struct Pair<T> {
    own: Padded<T>,
    partner: Padded<T>,
}

impl<T> Pair<T> {
    /// Makes both.
    pub(super) fn make<E>(mut one: impl FnMut() -> Result<T, E>) -> Result<Self, E> {
        Ok(Self {
            own: Padded(one()?),
            partner: Padded(one()?),
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
    Ok(Shared::new(value)?)
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

/// Two tasks that wake each other in turn.
struct RoundTrips<W> {
    wake: Arc<W>,
    /// The measuring task has ended it, or the partner has failed.
    is_over: Shared<AtomicBool>,
}

impl<W: Wake> RoundTrips<W> {
    fn new(wake: W) -> Result<Self, Failure> {
        Ok(Self {
            wake: Arc::new(wake),
            is_over: share(AtomicBool::new(false))?,
        })
    }

    fn again(&self) -> Self {
        Self {
            wake: Arc::clone(&self.wake),
            is_over: self.is_over.clone(),
        }
    }

    /// A round trip of the measuring task.
    fn turn(&self) -> Result<(), Failure> {
        self.wake.wake(Side::Partner).map_err(failed)?;
        self.wake.sleep(Side::Own).map_err(failed)?;
        match self.is_over.load(Ordering::Acquire) {
            false => Ok(()),
            true => Err(Failure::Failed("the partner failed".into())),
        }
    }

    /// The partner's work.
    fn answer(&self) -> Result<(), W::Error> {
        let _leave = Leave(self);
        loop {
            self.wake.sleep(Side::Partner)?;
            if self.is_over.load(Ordering::Acquire) {
                return Ok(());
            }
            self.wake.wake(Side::Own)?;
        }
    }

    fn end(&self) -> Result<(), Failure> {
        self.is_over.store(true, Ordering::Release);
        self.wake.wake(Side::Partner).map_err(failed)
    }
}

/// Whatever ends the partner, the measuring task shall not sleep on.
struct Leave<'a, W: Wake>(&'a RoundTrips<W>);

impl<W: Wake> Drop for Leave<'_, W> {
    fn drop(&mut self) {
        if !self.0.is_over.swap(true, Ordering::AcqRel) {
            // Where not even this works, the time limit ends it.
            let _ = self.0.wake.wake(Side::Own);
        }
    }
}

fn failed(error: impl fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}

fn round_trips<'t, W: Wake>(between: Between, cpus: &[u32], wake: W) -> Result<Team<'t>, Failure> {
    let own = RoundTrips::new(wake)?;
    let theirs = own.again();
    let partner = Partner::start(between, cpus, move || theirs.answer())?;
    own.wake.meet(partner.task());
    let last = own.again();
    let turns = move |turns| (0..turns).try_for_each(|_| own.turn());
    Ok(Team::new(vec![partner], turns, move || last.end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;
    use std::thread;

    /// Words to wait at, the partner's of which fails at the third turn.
    #[derive(Default)]
    struct Failing {
        woken: [AtomicBool; 2],
        sleeps: AtomicU32,
    }

    impl Wake for Failing {
        type Error = &'static str;

        fn wake(&self, side: Side) -> Result<(), Self::Error> {
            self.woken[side as usize].store(true, Ordering::Release);
            Ok(())
        }

        fn sleep(&self, side: Side) -> Result<(), Self::Error> {
            if side == Side::Partner && self.sleeps.fetch_add(1, Ordering::Relaxed) == 2 {
                return Err("no luck");
            }
            while !self.woken[side as usize].swap(false, Ordering::AcqRel) {
                thread::yield_now();
            }
            Ok(())
        }
    }

    #[test]
    fn a_partner_that_fails_does_not_leave_the_other_asleep() {
        let Ok(own) = RoundTrips::new(Failing::default()) else {
            println!("skipped: no shared memory here");
            return;
        };
        let theirs = own.again();
        let partner = thread::spawn(move || theirs.answer());
        let failure = (0..3).find_map(|_| own.turn().err());
        assert!(matches!(failure, Some(Failure::Failed(_))), "{failure:?}");
        assert_eq!(partner.join().unwrap(), Err("no luck"));
    }

    #[test]
    fn a_partner_that_is_told_to_end_ends_well() {
        let Ok(own) = RoundTrips::new(Failing::default()) else {
            println!("skipped: no shared memory here");
            return;
        };
        let theirs = own.again();
        let partner = thread::spawn(move || theirs.answer());
        own.turn().unwrap();
        own.end().unwrap();
        assert_eq!(partner.join().unwrap(), Ok(()));
    }
}
