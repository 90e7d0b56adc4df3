//! Accepting connections and closing them.

use std::net::IpAddr;
use std::os::fd::AsFd;

use super::{Account, IsOver, ServiceError};
use crate::wire::Close;

/// What is done with each connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accept {
    /// How it is closed.
    pub close: Close,
    /// Whether one byte is sent before.
    pub first_byte: bool,
    /// Whose connections are taken; anybody's if `None`. Others' are closed at once and counted as wrong.
    pub only_from: Option<IpAddr>,
}

/// Accepts connections of a listening socket, one after the other.
///
/// System calls per connection: accept4, sendto if a byte is sent, recvfrom (until the other end has closed) with
/// [`Close::AfterPeer`], close. Waits end after a quarter of a second, to ask whether it is over.
///
/// # Errors
/// When a call fails, other than for what the other end did.
pub fn accept(
    listener: impl AsFd,
    rule: &Accept,
    is_over: IsOver<'_>,
) -> Result<Account, ServiceError> {
    let _ = (listener.as_fd(), rule, is_over);
    todo!()
}
