//! Accepting connections and closing them.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_linger, set_socket_timeout};
use rustix::net::{RecvFlags, SocketFlags, accept_with, acceptfrom_with};

use super::transfer::{Came, failed, receive, send_all, serve};
use super::{Account, IsOver, ServiceError};
use crate::wire::Close;

/// Maximum wait before the next check whether the service is over.
const PATIENCE: Duration = Duration::from_millis(250);

/// How each connection is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accept {
    /// How the connection is closed.
    pub close: Close,
    /// Whether one byte is sent before that.
    pub first_byte: bool,
    /// The only address whose connections are accepted, if any. Others are closed at once and
    /// counted as wrong.
    pub only_from: Option<IpAddr>,
}

/// Accepts connections of a listening socket, one after the other.
///
/// System calls per connection: accept4, sendto if a byte is sent, setsockopt (SO_LINGER) with
/// [`Close::Rst`], setsockopt (SO_RCVTIMEO) and recvfrom until the other end has closed with
/// [`Close::AfterPeer`], close. Waits end after a quarter of a second, to check whether it is over.
///
/// # Errors
/// When a call fails for any reason other than what the peer does.
pub fn accept(
    listener: impl AsFd,
    rule: &Accept,
    is_over: IsOver<'_>,
) -> Result<Account, ServiceError> {
    each(
        listener.as_fd(),
        rule.only_from,
        is_over,
        |stream, account, is_over| {
            end(stream, rule, account, is_over)?;
            account.messages += 1;
            account.connections += 1;
            Ok(())
        },
    )
}

/// Accepts connections from the right address, passes each to `attend`, and closes it, until it is
/// over.
pub(super) fn each(
    listener: BorrowedFd<'_>,
    only_from: Option<IpAddr>,
    is_over: IsOver<'_>,
    mut attend: impl FnMut(BorrowedFd<'_>, &mut Account, IsOver<'_>) -> Result<(), ServiceError>,
) -> Result<Account, ServiceError> {
    bound_accepting(listener)?;
    serve(Account::default(), is_over, |account, span, is_over| {
        match next(listener, only_from, account)? {
            Next::Connection(stream) => {
                span.begin();
                attend(stream.as_fd(), account, is_over)?;
            }
            Next::Stranger => account.wrong += 1,
            Next::Nothing => {}
            Next::Released => return Ok(false),
        }
        Ok(true)
    })
}

/// Does what is to be done between accepting and closing a connection. It is not an error if the
/// peer leaves meanwhile.
#[inline]
fn end(
    stream: BorrowedFd<'_>,
    rule: &Accept,
    account: &mut Account,
    is_over: IsOver<'_>,
) -> Result<(), ServiceError> {
    if rule.first_byte {
        let (sent, _) = send_all(stream, b"!", || !is_over(account));
        account.bytes += sent as u64;
    }
    match rule.close {
        Close::Fin => Ok(()),
        Close::Rst => {
            set_socket_linger(stream, Some(Duration::ZERO)).map_err(failed("setsockopt", account))
        }
        Close::AfterPeer => {
            bound_receiving(stream).map_err(failed("setsockopt", account))?;
            let mut rest = [0; 64];
            while let Ok(Came::Bytes(_) | Came::Nothing) =
                receive(stream, &mut rest, RecvFlags::empty())
            {
                if is_over(account) {
                    break;
                }
            }
            Ok(())
        }
    }
}

/// Limits waiting for connections to [`PATIENCE`]. Each connection needs a separate limit: one made
/// before inherits none.
fn bound_accepting(listener: BorrowedFd<'_>) -> Result<(), ServiceError> {
    bound_receiving(listener).map_err(failed("setsockopt", &Account::default()))
}

/// Limits receiving to [`PATIENCE`].
pub(super) fn bound_receiving(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    set_socket_timeout(socket, Timeout::Recv, Some(PATIENCE))
}

/// Limits sending to [`PATIENCE`].
pub(super) fn bound_sending(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    set_socket_timeout(socket, Timeout::Send, Some(PATIENCE))
}

/// The result of accepting.
enum Next {
    Connection(OwnedFd),
    /// A connection from another address, closed.
    Stranger,
    /// No connection in time, or one that was aborted.
    Nothing,
    /// The listening socket has been shut down.
    Released,
}

/// Accepts one connection, if it is from the right address.
#[inline]
fn next(
    listener: BorrowedFd<'_>,
    only_from: Option<IpAddr>,
    account: &Account,
) -> Result<Next, ServiceError> {
    let accepted = match only_from {
        None => accept_with(listener, SocketFlags::CLOEXEC).map(|stream| (stream, true)),
        Some(only) => acceptfrom_with(listener, SocketFlags::CLOEXEC).map(|(stream, from)| {
            let from = from.and_then(|from| SocketAddr::try_from(from).ok());
            let is_from_there = from.is_some_and(|from| from.ip().to_canonical() == only);
            (stream, is_from_there)
        }),
    };
    match accepted {
        Ok((stream, true)) => Ok(Next::Connection(stream)),
        Ok((_, false)) => Ok(Next::Stranger),
        Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => Ok(Next::Nothing),
        Err(Errno::INVAL) => Ok(Next::Released),
        Err(cause) => Err(failed("accept4", account)(cause)),
    }
}

#[cfg(test)]
mod tests;
