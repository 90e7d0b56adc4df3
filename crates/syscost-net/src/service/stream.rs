//! Services on a connected stream: TCP or a Unix socket.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::transfer::{Came, Receiver, failed, first_word, receive, send_all, serve};
use super::{Account, IsOver, ServiceError, Wait};
use crate::content::Content;

/// Answers each message of `message.len()` bytes with the same bytes, until the other end closes.
///
/// System calls per message: recvfrom (MSG_WAITALL where it blocks; with `Wait::Epoll` epoll_wait
/// before it) and sendto.
///
/// # Errors
/// When a call fails, including when the connection is reset.
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

/// Returns false if a call failed because its connection was released, else the call's error.
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

/// Receives a whole message; returns false at the end. A partial message at the end counts as wrong.
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

/// Receives and checks bytes, up to `buffer.len()` bytes at a time, until the other end closes.
///
/// System calls: recvfrom.
///
/// # Errors
/// When a call fails, including when the connection is reset.
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

/// Sends stamped content, `buffer.len()` bytes at a time, until the other end closes or resets, or
/// it is over.
///
/// System calls: sendto.
///
/// # Errors
/// When a call fails for any reason other than that the peer has left.
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

/// Sends one buffer; returns false once the other end takes no more.
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
