//! Services on a connected stream: TCP or a Unix socket.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::transfer::{Came, Receiver, failed, first_word, receive, send_all, serve};
use super::{Account, IsOver, ServiceError, Wait};
use crate::content::Content;

/// Answers each message of `message.len()` bytes with the same bytes, until the other end closes.
///
/// System calls per message: recvfrom (MSG_WAITALL where it blocks; with `Wait::Epoll` epoll_wait before it) and sendto.
///
/// # Errors
/// When a call fails; a reset connection is one that failed.
pub fn echo(
    socket: impl AsFd,
    message: &mut [u8],
    wait: Wait,
    is_over: IsOver<'_>,
) -> Result<Account, ServiceError> {
    let socket = socket.as_fd();
    let receiver = Receiver::new(socket, wait, RecvFlags::WAITALL)?;
    serve(one_connection(), is_over, |account, span, is_over| {
        if !fill(&receiver, message, account, is_over)? {
            return Ok(false);
        }
        span.begin();
        let (_, sent) = send_all(socket, message, || !is_over(account));
        if let Err(cause) = sent {
            return released(cause, "sendto", account, is_over);
        }
        account.messages += 1;
        account.bytes += message.len() as u64;
        account.checksum = account.checksum.wrapping_add(first_word(message));
        Ok(true)
    })
}

/// The end of a connection that failed because it was released; the error of one that broke.
#[cold]
fn released(
    cause: Errno,
    operation: &'static str,
    account: &Account,
    is_over: IsOver<'_>,
) -> Result<bool, ServiceError> {
    match is_over(account) {
        true => Ok(false),
        false => Err(failed(operation, account)(cause)),
    }
}

/// Receives a whole message; false at the end. A part of one that was the last counts as wrong.
#[inline]
fn fill(
    receiver: &Receiver<'_>,
    message: &mut [u8],
    account: &mut Account,
    is_over: IsOver<'_>,
) -> Result<bool, ServiceError> {
    let mut filled = 0;
    while filled < message.len() {
        let came = receiver.receive(&mut message[filled..]);
        match came.map_err(failed("recvfrom", account))? {
            Came::Bytes(count) => filled += count,
            Came::Nothing if !is_over(account) => {}
            Came::Nothing | Came::End => {
                account.wrong += filled as u64;
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Receives and checks whatever comes, up to `buffer.len()` bytes at a time, until the other end closes.
///
/// System calls: recvfrom.
///
/// # Errors
/// When a call fails; a reset connection is one that failed.
pub fn sink(
    socket: impl AsFd,
    buffer: &mut [u8],
    content: Content,
    is_over: IsOver<'_>,
) -> Result<Account, ServiceError> {
    let socket = socket.as_fd();
    serve(
        one_connection(),
        is_over,
        |account, span, is_over| match receive(socket, buffer, RecvFlags::empty()) {
            Ok(Came::Bytes(count)) => {
                span.begin();
                let checked = content.check(account.bytes, &buffer[..count]);
                account.messages += 1;
                account.bytes += count as u64;
                account.checksum = account.checksum.wrapping_add(checked.checksum);
                account.wrong += checked.wrong;
                Ok(true)
            }
            Ok(Came::Nothing) => Ok(true),
            Ok(Came::End) => Ok(false),
            Err(cause) => released(cause, "recvfrom", account, is_over),
        },
    )
}

/// Sends stamped content, `buffer.len()` bytes at a time, until the other end closes or resets, or it is over.
///
/// System calls: sendto.
///
/// # Errors
/// When a call fails for another reason than the other end's leaving.
pub fn source(
    socket: impl AsFd,
    buffer: &mut [u8],
    content: Content,
    is_over: IsOver<'_>,
) -> Result<Account, ServiceError> {
    let socket = socket.as_fd();
    serve(one_connection(), is_over, |account, span, is_over| {
        span.begin();
        send_stamped(socket, buffer, content, account, is_over)
    })
}

/// Sends one buffer; false where nobody takes more.
#[inline]
fn send_stamped(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
    content: Content,
    account: &mut Account,
    is_over: IsOver<'_>,
) -> Result<bool, ServiceError> {
    let position = account.bytes;
    let mut checksum = content.stamp(position, buffer);
    let (sent, result) = send_all(socket, buffer, || !is_over(account));
    if sent < buffer.len() {
        checksum = content.check(position, &buffer[..sent]).checksum;
    }
    account.bytes += sent as u64;
    account.checksum = account.checksum.wrapping_add(checksum);
    match result {
        Ok(()) => account.messages += 1,
        Err(Errno::PIPE | Errno::CONNRESET) => return Ok(false),
        Err(cause) => return Err(failed("sendto", account)(cause)),
    }
    Ok(sent == buffer.len())
}

fn one_connection() -> Account {
    Account {
        connections: 1,
        ..Account::default()
    }
}

#[cfg(test)]
mod tests;
