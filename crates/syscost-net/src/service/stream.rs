//! Services on a connected stream: TCP or a Unix socket.

use std::os::fd::AsFd;

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
    let _ = (socket.as_fd(), message, wait, is_over);
    todo!()
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
    let _ = (socket.as_fd(), buffer, content, is_over);
    todo!()
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
    let _ = (socket.as_fd(), buffer, content, is_over);
    todo!()
}
