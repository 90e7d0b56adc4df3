//! What the far end does, on sockets that are connected or listening already.
//!
//! Plain functions that take a socket, a buffer made before, and a question whether it is over, and return an [`Account`]. The
//! server runs them for a client elsewhere, a benchmark on loopback in a partner of its own.
//!
//! They block without a time limit, so that nothing but the operation is measured. A stream ends when its other end closes it, a
//! service of datagrams at a datagram without content. Whoever wants to end one from outside makes its question say yes and then
//! calls [`release`] on the socket. Their only system calls are those that each function names, and a reading of the
//! clocks at the beginning and the end.

pub mod connections;
pub mod datagram;
pub mod http;
pub mod stream;

mod account;
mod order;
mod pace;
mod transfer;

pub(crate) use account::monotonic_ns;
pub use account::{Account, Order, Reading, TcpSide, listen_overflows};
pub use order::Ledger;

use std::io;
use std::os::fd::AsFd;

use rustix::net::{Shutdown, shutdown};
use serde::{Deserialize, Serialize};

/// The question whether a service is over, with what it has done so far. Asked after each message; must not block.
pub type IsOver<'a> = &'a mut dyn FnMut(&Account) -> bool;

/// How an echo waits for the next message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// It sleeps in the receiving call: one system call a message.
    Block,
    /// It sleeps in epoll_wait(2) and then receives: two system calls a message.
    Epoll,
    /// It receives without waiting until something is there, and never sleeps.
    Spin,
}

impl Wait {
    /// All of them.
    pub const ALL: [Wait; 3] = [Wait::Block, Wait::Epoll, Wait::Spin];

    /// The name in cases: `block`, `epoll` or `spin`.
    pub const fn name(self) -> &'static str {
        match self {
            Wait::Block => "block",
            Wait::Epoll => "epoll",
            Wait::Spin => "spin",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Wait> {
        Self::ALL.into_iter().find(|wait| wait.name() == name)
    }
}

/// A call of a service that failed.
#[derive(Debug, thiserror::Error)]
#[error("{operation} (after {messages} messages): {cause}")]
pub struct ServiceError {
    /// The call, as the manual names it.
    pub operation: &'static str,
    /// Messages that were served before.
    pub messages: u64,
    /// The system's answer.
    pub cause: io::Error,
}

/// Ends what blocks on this socket, in whichever thread or process: connections are shut in both directions, and what waits
/// on a listening socket or for datagrams returns.
pub fn release(socket: impl AsFd) {
    // Whoever has been closed already, or is not connected (which wakes all the same), needs nothing more.
    let _ = shutdown(socket, Shutdown::Both);
}
