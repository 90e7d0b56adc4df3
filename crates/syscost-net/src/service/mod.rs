//! The services of the far end, on sockets that are already connected or listening.
//!
//! They are plain functions that take a socket, a buffer, and a callback that says when the service
//! is over, and return an [`Account`]. The server runs them for a remote client, a benchmark on
//! loopback runs them in a partner.
//!
//! They block without a time limit, so that nothing but the operation is measured. A service of
//! streams ends when the other end closes, a service of datagrams at an empty datagram, the
//! end-of-stream marker. To end one from outside, let its callback return true and then call
//! [`release`] on the socket. Their only system calls are those that each function names, and
//! readings of the clocks at the beginning and the end.

pub mod connections;
pub mod datagram;
pub mod http;
pub mod stream;

mod account;
mod order;
mod pace;
mod transfer;

pub(crate) use account::monotonic_ns;
pub use account::{Account, Congestion, Order, Reading, TcpSide, listen_overflows};
pub use order::Ledger;

use std::io;
use std::os::fd::AsFd;

use rustix::net::{Shutdown, shutdown};
use serde::{Deserialize, Serialize};
use syscost_params::Value;

/// The callback that says whether a service is over, given its account so far. Called after each
/// message; must not block.
pub type IsOver<'a> = &'a mut dyn FnMut(&Account) -> bool;

/// How a task waits for the next message.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// Sleeps in the receiving call: one system call per message.
    Block,
    /// Sleeps in epoll_wait(2) and then receives: two system calls per message.
    Epoll,
    /// Polls by receiving without waiting, and never sleeps.
    Spin,
}

/// A failed call of a service.
#[derive(Debug, thiserror::Error)]
#[error("{operation} (after {messages} messages): {cause}")]
pub struct ServiceError {
    /// The call, as in the manual.
    pub operation: &'static str,
    /// Number of messages served before.
    pub messages: u64,
    /// The system's error.
    pub cause: io::Error,
}

/// Ends all blocking calls on this socket, in any thread or process: connections are shut down in
/// both directions, and waiting for connections or datagrams returns.
pub fn release(socket: impl AsFd) {
    // It fails on a closed socket, and on one that is not connected, whose calls return all the
    // same.
    let _ = shutdown(socket, Shutdown::Both);
}
