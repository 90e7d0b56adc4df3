//! Which streams a case asks for.

use syscost_harness::prelude::*;
use syscost_net::Content;

use super::method::Method;
use crate::net::far_end::Path;
use crate::net::seats::Seats;

/// Which end sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::net) enum Direction {
    /// This end.
    Send,
    /// The far end.
    Receive,
}

impl Direction {
    /// The key of the parameter that names it.
    pub(in crate::net) const KEY: &str = "direction";

    /// The name in cases.
    pub(in crate::net) const fn name(self) -> &'static str {
        match self {
            Direction::Send => "send",
            Direction::Receive => "receive",
        }
    }

    /// The one that a case names.
    pub(in crate::net) fn of(case: &Case) -> Result<Direction, Failure> {
        [Direction::Send, Direction::Receive]
            .into_iter()
            .find(|direction| direction.name() == case.get(Self::KEY))
            .ok_or_else(|| Failure::Broken("has no direction in its case".into()))
    }
}

/// Which streams there are to be.
#[derive(Debug, Clone)]
pub(in crate::net) struct Setting {
    pub(in crate::net) path: Path,
    pub(in crate::net) direction: Direction,
    pub(in crate::net) method: Method,
    /// Bytes of a message.
    pub(in crate::net) size: usize,
    /// Where the tasks of each stream run.
    pub(in crate::net) seats: Vec<Seats>,
    pub(in crate::net) content: Content,
}

impl Setting {
    /// Those of a case, for the pass that `b` makes.
    pub(super) fn of(b: &Bencher) -> Result<Setting, Failure> {
        let case = b.case();
        let path = Path::of(case)?;
        let streams = case.number("streams") as usize;
        Ok(Setting {
            seats: Seats::of(&path, streams, b)?,
            path,
            direction: Direction::of(case)?,
            method: Method::of(case)?,
            size: case.number("size") as usize,
            content: content(b),
        })
    }

    /// Whether a task on this machine sends.
    pub(super) fn sends_here(&self) -> bool {
        self.direction == Direction::Send || self.path.is_loopback()
    }

    /// Whether a task on this machine receives.
    pub(super) fn receives_here(&self) -> bool {
        self.direction == Direction::Receive || self.path.is_loopback()
    }
}

/// How much of the content is stamped and checked: all of it where evidence is counted.
pub(in crate::net) fn content(b: &Bencher) -> Content {
    match b.is_timed() {
        true => Content::Sparse,
        false => Content::Whole,
    }
}
