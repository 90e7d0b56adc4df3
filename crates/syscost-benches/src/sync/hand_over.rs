//! Shared: two tasks that hand locks to each other, in a chain of three that leaves neither a choice.
//!
//! Each task holds one lock, takes the next and only then gives the first away. One lock is free at any time, so a task can be one
//! step ahead at most and then sleeps until the other has made its step. Where each must find the other when it gets a lock
//! follows: a lock that lets two in is found out at the first step.
//!
//! The measuring task's turn begins by giving, and ends when it has taken what the partner gave in return: the partner is at the
//! same point before and after each turn, so that nothing of it happens before the clock starts or after it stops.

use std::fmt;
use std::io::{Read, Write, pipe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use syscost_harness::prelude::*;
use syscost_sys::partner::{Between, Partner, Shared};

pub(super) use crate::sides::Side;

use super::Padded;

/// How many locks the chain has.
pub(super) const LINKS: usize = 3;

/// Three locks, each of which one task can hold.
pub(super) trait Chain: Send + Sync + 'static {
    /// What can go wrong.
    type Error: fmt::Display;

    /// Takes a lock for this side, and sleeps while the other side holds it.
    fn lock(&self, side: Side, link: usize) -> Result<(), Self::Error>;

    /// Gives it back.
    fn unlock(&self, side: Side, link: usize) -> Result<(), Self::Error>;
}

/// Told by a partner whose lock failed.
const GONE: u64 = u64::MAX;

/// What both tasks see.
struct Board {
    /// How many steps along the chain each side stands.
    places: [Padded<AtomicU64>; 2],
    over: AtomicBool,
}

/// One side's way along the chain.
struct Walk<C> {
    chain: Arc<C>,
    board: Shared<Board>,
    side: Side,
    at: u64,
}

/// Why a step failed.
enum Misstep<E> {
    Lock(E),
    /// The other side is not where an excluding lock has it.
    Place {
        seen: u64,
        expected: u64,
    },
}

impl<E: fmt::Display> fmt::Display for Misstep<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misstep::Lock(error) => error.fmt(f),
            Misstep::Place { seen: GONE, .. } => f.write_str("the partner's lock failed"),
            Misstep::Place { seen, expected } => write!(
                f,
                "a lock let two in: the other task stands at step {seen}, not {expected}"
            ),
        }
    }
}

impl<E: fmt::Display> From<Misstep<E>> for Failure {
    fn from(misstep: Misstep<E>) -> Self {
        match misstep {
            Misstep::Place { seen, .. } if seen != GONE => Failure::Refuted(misstep.to_string()),
            _ => Failure::Failed(misstep.to_string()),
        }
    }
}

impl<C: Chain> Walk<C> {
    /// Takes the first lock of this side.
    fn begin(chain: Arc<C>, board: Shared<Board>, side: Side) -> Result<Self, C::Error> {
        let at = side as u64;
        chain.lock(side, link(at))?;
        board.places[side as usize].0.store(at, Ordering::Release);
        Ok(Self {
            chain,
            board,
            side,
            at,
        })
    }

    /// Takes the next lock. Whether the walk goes on.
    fn take(&mut self) -> Result<bool, Misstep<C::Error>> {
        let next = link(self.at + 1);
        self.chain.lock(self.side, next).map_err(Misstep::Lock)?;
        if self.board.over.load(Ordering::Acquire) {
            return Ok(false);
        }
        // The partner is a step ahead where this side begins.
        let (other, expected) = match self.side {
            Side::Own => (Side::Partner, self.at + 2),
            Side::Partner => (Side::Own, self.at - 1),
        };
        let seen = self.board.places[other as usize].0.load(Ordering::Acquire);
        if seen != expected {
            return Err(Misstep::Place { seen, expected });
        }
        Ok(true)
    }

    /// Gives the lock before it away.
    fn give(&mut self) -> Result<(), Misstep<C::Error>> {
        let given = link(self.at);
        self.at += 1;
        self.board.places[self.side as usize]
            .0
            .store(self.at, Ordering::Release);
        self.chain.unlock(self.side, given).map_err(Misstep::Lock)
    }

    /// Walks as the partner until it is over.
    fn follow(&mut self) -> Result<(), Misstep<C::Error>> {
        while self.take()? {
            self.give()?;
        }
        self.give_up(link(self.at + 1));
        self.give_up(link(self.at));
        Ok(())
    }

    /// Leaves after a failed step so that the other side sleeps on nothing and learns of it.
    fn stumble(&self, misstep: &Misstep<C::Error>) {
        match misstep {
            Misstep::Lock(_) => self.board.places[self.side as usize]
                .0
                .store(GONE, Ordering::Release),
            Misstep::Place { .. } => self.give_up(link(self.at + 1)),
        }
        self.give_up(link(self.at));
    }

    fn give_up(&self, link: usize) {
        // There is nobody left to tell.
        let _ = self.chain.unlock(self.side, link);
    }
}

fn link(place: u64) -> usize {
    (place % LINKS as u64) as usize
}

/// Measures steps: both tasks take a lock that the other gives away. Half of one, a hand-over, is told beside.
pub(super) fn measure<C: Chain>(
    b: &mut Bencher,
    between: Between,
    make: impl Fn() -> Result<C, Failure>,
) -> Result<(), Failure> {
    b.together(Placement::of(b.case())?, |cpus| {
        steps(between, cpus, make()?)
    })?;
    if let Some(step) = b.median() {
        b.detail("hand_over_ns", step / 2.0);
    }
    Ok(())
}

/// Where the two tasks of a chain can be.
pub(super) fn placements() -> impl Iterator<Item = Placement> {
    Placement::here()
        .into_iter()
        .filter(|placement| *placement != Placement::Free)
}

fn steps<'t, C: Chain>(between: Between, cpus: &[u32], chain: C) -> Result<Team<'t>, Failure> {
    let failed = |error: &dyn fmt::Display| Failure::Failed(error.to_string());
    let chain = Arc::new(chain);
    let board = Shared::new(Board {
        places: Default::default(),
        over: AtomicBool::new(false),
    })
    .map_err(|error| failed(&error))?;
    let mut own = Walk::begin(Arc::clone(&chain), board.clone(), Side::Own)
        .map_err(|error| failed(&error))?;
    let (mut begun, mut begins) = pipe().map_err(|error| Failure::of("make a pipe", error))?;
    let (theirs, their_board) = (Arc::clone(&chain), board.clone());
    let partner = Partner::start(between, cpus, move || -> Result<(), String> {
        let mut walk =
            Walk::begin(theirs, their_board, Side::Partner).map_err(|e| e.to_string())?;
        begins.write_all(b".").map_err(|error| error.to_string())?;
        walk.follow().map_err(|misstep| {
            walk.stumble(&misstep);
            misstep.to_string()
        })
    })
    .map_err(|error| failed(&error))?;
    begun
        .read_exact(&mut [0])
        .map_err(|error| Failure::of("wait for a partner's first lock", error))?;
    own.take()?;
    Ok(Team::new(
        vec![partner],
        move |turns| {
            for _ in 0..turns {
                own.give()?;
                own.take()?;
            }
            Ok(())
        },
        move || {
            board.over.store(true, Ordering::Release);
            let at = board.places[Side::Own as usize].0.load(Ordering::Relaxed);
            let unlock = |place| chain.unlock(Side::Own, link(place));
            unlock(at)
                .and_then(|()| unlock(at + 1))
                .map_err(|error| failed(&error))
        },
    ))
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
        let board = Shared::new(Board {
            places: Default::default(),
            over: AtomicBool::new(false),
        })
        .unwrap();
        let chain = Arc::new(Open);
        let mut own = Walk::begin(Arc::clone(&chain), board.clone(), Side::Own).unwrap();
        let _partner = Walk::begin(chain, board, Side::Partner).unwrap();
        // The partner still holds what it takes.
        let failure = Failure::from(own.take().err().unwrap());
        assert!(matches!(failure, Failure::Refuted(_)), "{failure}");
    }
}
