//! Shared: two tasks that hand locks to each other, in a chain of three that leaves neither a choice.
//!
//! Each task holds one lock, takes the next and only then releases the first. One lock is free at
//! any time, so a task can be at most one step ahead and then sleeps until the other has made its
//! step. Therefore the position of the other task is known whenever a lock is taken: a lock without
//! mutual exclusion is detected at the first step.
//!
//! The measuring task's iteration begins with a release, and ends when it has taken what the
//! partner released in return: the partner is at the same point before and after each iteration, so
//! that none of its work happens before the clock starts or after it stops.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use syscost_harness::prelude::*;

pub(super) use crate::sides::Side;

use super::{Padded, TAKERS};

/// Number of locks in the chain.
pub(super) const LINKS: usize = 3;

/// Three locks, each of which one task can hold.
pub(super) trait Chain: Send + Sync + 'static {
    /// The error of a failed call.
    type Error: fmt::Display;

    /// Takes a lock for this side, and sleeps while the other side holds it.
    fn lock(&self, side: Side, link: usize) -> Result<(), Self::Error>;

    fn unlock(&self, side: Side, link: usize) -> Result<(), Self::Error>;
}

/// The number of steps that each side has made along the chain.
type Places = [Padded<AtomicU64>; 2];

/// One side's way along the chain.
struct Walk<C> {
    chain: Arc<C>,
    places: Shared<Places>,
    side: Side,
    at: u64,
}

impl<C: Chain> Walk<C> {
    /// Takes the first lock of this side.
    fn begin(chain: Arc<C>, places: Shared<Places>, side: Side) -> Result<Self, Failure> {
        let at = side as u64;
        chain.lock(side, link(at)).map_err(failed)?;
        places[side as usize].0.store(at, Ordering::Release);
        Ok(Self {
            chain,
            places,
            side,
            at,
        })
    }

    /// Takes the next lock; returns whether the walk goes on.
    fn take(&mut self, stop: &Stop) -> Result<bool, Failure> {
        let next = link(self.at + 1);
        self.chain.lock(self.side, next).map_err(failed)?;
        if stop.is_set() {
            return Ok(false);
        }
        // The partner is one step ahead at the start.
        let (other, expected) = match self.side {
            Side::Own => (Side::Partner, self.at + 2),
            Side::Partner => (Side::Own, self.at - 1),
        };
        let seen = self.places[other as usize].0.load(Ordering::Acquire);
        if seen != expected {
            self.give_up(next);
            return Err(Failure::Refuted(format!(
                "a lock let two in: the other task stands at step {seen}, not {expected}"
            )));
        }
        Ok(true)
    }

    /// Releases the lock before the current one.
    fn give(&mut self) -> Result<(), Failure> {
        let given = link(self.at);
        self.at += 1;
        self.places[self.side as usize]
            .0
            .store(self.at, Ordering::Release);
        self.chain.unlock(self.side, given).map_err(failed)
    }

    /// Walks as the partner until stopped.
    fn follow(&mut self, stop: &Stop) -> Result<(), Failure> {
        while self.take(stop)? {
            self.give()?;
        }
        self.leave()
    }

    fn leave(&self) -> Result<(), Failure> {
        let unlock = |place| self.chain.unlock(self.side, link(place));
        unlock(self.at)
            .and_then(|()| unlock(self.at + 1))
            .map_err(failed)
    }

    /// How many of both sides have left where they began.
    fn walkers(&self) -> usize {
        let steps = self.places.iter().zip([Side::Own, Side::Partner]);
        let walked = steps.filter(|(at, side)| at.0.load(Ordering::Acquire) > *side as u64);
        walked.count()
    }

    fn give_up(&self, link: usize) {
        // An error cannot be reported any more.
        let _ = self.chain.unlock(self.side, link);
    }
}

/// The measuring side.
struct Steps<C> {
    walk: Walk<C>,
    stop: Shared<Stop>,
}

impl<C: Chain> Steps<C> {
    fn take(&mut self) -> Result<(), Failure> {
        match self.walk.take(&self.stop)? {
            true => Ok(()),
            false => self.stop.check(),
        }
    }
}

impl<C: Chain> Driver for Steps<C> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            self.walk.give()?;
            self.take()?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.walk.leave()
    }
}

fn failed(error: impl fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}

fn link(place: u64) -> usize {
    (place % LINKS as u64) as usize
}

/// Measures steps: both tasks take a lock that the other releases. Half of a step, a hand-over, is a detail.
pub(super) fn measure<C: Chain>(
    plan: Plan,
    between: Between,
    placement: Placement,
    make: impl Fn() -> Result<C, Failure>,
) -> Result<Outcome, Failure> {
    let make = |cpus: &[u32]| steps(between, cpus, make()?);
    let (mut outcome, takers) = plan.measure(Together::of(placement, make))?.split();
    outcome.observe(&TAKERS, takers);
    outcome.detail_each("hand_over_ns", &TAKERS)?;
    Ok(outcome)
}

pub(super) fn placements(here: &Testbed) -> impl Iterator<Item = Placement> + use<> {
    Placement::among(&here.allowed)
        .into_iter()
        .filter(|placement| *placement != Placement::Free)
}

/// Both sides at work; in the end, how many of them have made a step.
fn steps<'t, C: Chain>(
    between: Between,
    cpus: &[u32],
    chain: C,
) -> Result<Team<'t, usize>, Failure> {
    let chain = Arc::new(chain);
    let places = Shared::new(Places::default())?;
    let walk = Walk::begin(Arc::clone(&chain), places.clone(), Side::Own)?;
    let prepare = move || Walk::begin(chain, places, Side::Partner);
    // The lock that the measuring side waits for.
    let wake_waiters = |walk: &mut Walk<C>| walk.give_up(link(walk.at));
    let responder = Responder::start(between, cpus, prepare, Walk::follow, wake_waiters)?;
    let stop = responder.stop();
    let mut steps = Steps { walk, stop };
    steps.take()?;
    Ok(responder
        .driven_by(steps)
        .map(|(steps, ())| steps.walk.walkers()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Locks nothing.
    struct Open;

    impl Chain for Open {
        type Error = String;

        fn lock(&self, _: Side, _: usize) -> Result<(), String> {
            Ok(())
        }

        fn unlock(&self, _: Side, _: usize) -> Result<(), String> {
            Ok(())
        }
    }

    #[test]
    fn a_lock_that_lets_two_in_is_found_out() {
        let places = Shared::new(Places::default()).unwrap();
        let chain = Arc::new(Open);
        let mut own = Walk::begin(Arc::clone(&chain), places.clone(), Side::Own).unwrap();
        let _partner = Walk::begin(chain, places, Side::Partner).unwrap();
        // The partner still holds what it takes.
        let failure = own.take(&Stop::default()).unwrap_err();
        assert!(matches!(failure, Failure::Refuted(_)), "{failure}");
    }
}
