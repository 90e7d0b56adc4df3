//! The parameters of streams.

use std::net::TcpStream;

use syscost_harness::prelude::*;
use syscost_net::Content;
use syscost_net::service::{Account, ServiceError, stream};
use syscost_net::socket::Tcp;

use super::method::Method;
use crate::net::far_end::{Family, Route};
use crate::net::seats::Seats;
use crate::net::setting::{SIZE, positive};
use crate::net::tcp::stream::options;
use crate::net::workers::IsOver;

/// The key of the parameter with the number of streams.
pub(in crate::net) const STREAMS: &str = "streams";

/// Message size in bytes that most tools use.
pub(in crate::net) const LARGE: usize = 64 << 10;

/// Which end sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::net) enum Direction {
    /// This end.
    Send,
    /// The far end.
    Receive,
}

impl Direction {
    /// The key of the parameter that names the direction.
    pub(in crate::net) const KEY: &str = "direction";

    /// The name in cases.
    pub(in crate::net) const fn name(self) -> &'static str {
        match self {
            Direction::Send => "send",
            Direction::Receive => "receive",
        }
    }

    /// The direction that a case names.
    pub(in crate::net) fn of(case: &Case) -> Result<Direction, Failure> {
        [Direction::Send, Direction::Receive]
            .into_iter()
            .find(|direction| direction.name() == case.get(Self::KEY))
            .ok_or_else(|| case.unknown(Self::KEY))
    }
}

/// The function that receives a stream on this machine.
pub(crate) type Sink =
    fn(&TcpStream, &mut [u8], Content, IsOver<'_>) -> Result<Account, ServiceError>;

/// The parameters of streams.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    pub(in crate::net) path: Route,
    pub(in crate::net) family: Family,
    pub(in crate::net) direction: Direction,
    pub(in crate::net) method: Method,
    /// Bytes of a message.
    pub(in crate::net) size: usize,
    /// Where the tasks of each stream run.
    pub(in crate::net) seats: Vec<Seats>,
    pub(in crate::net) content: Content,
    pub(in crate::net) sink: Sink,
    /// The options of both ends.
    pub(in crate::net) tcp: Tcp,
}

impl Setting {
    /// The setting of the case to be measured.
    pub(super) fn of(b: &Bencher) -> Result<Setting, Failure> {
        let case = b.case();
        let path = Route::of(case, b.targets())?;
        let streams = positive(case, STREAMS)?;
        Ok(Setting {
            tcp: options(b.targets()),
            seats: Seats::of(&path, streams, b)?,
            path,
            family: Family::of(case)?,
            direction: Direction::of(case)?,
            method: Method::of(case)?,
            size: positive(case, SIZE)?,
            content: content(b),
            sink,
        })
    }

    /// One stream of large messages that this end writes, to a partner on the same CPU.
    pub(crate) fn plain(b: &Bencher) -> Result<Setting, Failure> {
        let path = Route::Loopback(Placement::SAME, Family::Ipv4);
        Ok(Setting {
            tcp: options(b.targets()),
            seats: Seats::of(&path, 1, b)?,
            path,
            family: Family::Ipv4,
            direction: Direction::Send,
            method: Method::Write,
            size: LARGE,
            content: content(b),
            sink,
        })
    }

    /// This setting with other receivers on this machine.
    #[must_use]
    pub(crate) fn received_by(self, sink: Sink) -> Self {
        Self { sink, ..self }
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

/// Receives and checks.
pub(in crate::net) fn sink(
    socket: &TcpStream,
    buffer: &mut [u8],
    content: Content,
    is_over: IsOver<'_>,
) -> Result<Account, ServiceError> {
    stream::sink(socket, buffer, content, is_over)
}

/// How much of the content is stamped and checked: all of it where evidence is counted.
pub(in crate::net) fn content(b: &Bencher) -> Content {
    match b.is_timed() {
        true => Content::Sparse,
        false => Content::Whole,
    }
}
