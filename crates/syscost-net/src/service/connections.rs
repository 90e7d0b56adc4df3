//! Accepting connections and closing them.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_linger, set_socket_timeout};
use rustix::net::{RecvFlags, SocketFlags, accept_with, acceptfrom_with};

use super::account::Span;
use super::transfer::{Came, failed, receive, send_all};
use super::{Account, IsOver, ServiceError};
use crate::wire::Close;

/// Longest wait before it is asked whether the service is over.
pub(super) const PATIENCE: Duration = Duration::from_millis(250);

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
    let listener = listener.as_fd();
    let linger = (rule.close == Close::Rst).then_some(Duration::ZERO);
    prepare(listener, linger)?;
    let (mut account, mut span) = (Account::default(), Span::default());
    loop {
        match next(listener, rule.only_from, &account)? {
            Next::Connection(stream) => {
                span.begin();
                attend(&stream, rule, &mut account, is_over);
                account.messages += 1;
                account.connections += 1;
            }
            Next::Stranger => account.wrong += 1,
            Next::Nothing => {}
            Next::Released => break,
        }
        if is_over(&account) {
            break;
        }
    }
    span.end(&mut account);
    Ok(account)
}

/// What is done with a connection between accepting and closing it. That the other end has left meanwhile is its own affair.
#[inline]
fn attend(stream: &OwnedFd, rule: &Accept, account: &mut Account, is_over: IsOver<'_>) {
    if rule.first_byte {
        let (sent, _) = send_all(stream.as_fd(), b"!", || !is_over(account));
        account.bytes += sent as u64;
    }
    if rule.close == Close::AfterPeer {
        let mut rest = [0; 64];
        while let Ok(Came::Bytes(_) | Came::Nothing) =
            receive(stream.as_fd(), &mut rest, RecvFlags::empty())
        {
            if is_over(account) {
                break;
            }
        }
    }
}

/// Options of a listening socket that its connections inherit: no wait lasts longer than [`PATIENCE`].
pub(super) fn prepare(
    listener: BorrowedFd<'_>,
    linger: Option<Duration>,
) -> Result<(), ServiceError> {
    set_socket_timeout(listener, Timeout::Recv, Some(PATIENCE))
        .and_then(|()| set_socket_timeout(listener, Timeout::Send, Some(PATIENCE)))
        .and_then(|()| set_socket_linger(listener, linger))
        .map_err(failed("setsockopt", &Account::default()))
}

/// What accepting came to.
pub(super) enum Next {
    Connection(OwnedFd),
    /// A connection from elsewhere, closed.
    Stranger,
    /// None in time, or none any more.
    Nothing,
    /// The listening socket was shut.
    Released,
}

/// Accepts one connection, if it is from where it should be.
#[inline]
pub(super) fn next(
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
