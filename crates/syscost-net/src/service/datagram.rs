//! Services on a connected socket of datagrams: UDP or a Unix socket.

use std::os::fd::AsFd;

use super::{Account, IsOver, ServiceError, Wait};
use crate::content::Content;

/// Bytes of a datagram's number, little-endian, which it begins with.
pub const NUMBER_BYTES: usize = 8;

/// Answers each datagram of `datagram.len()` bytes with the same bytes; others are counted as wrong and not answered.
///
/// System calls per datagram: recvfrom (with `Wait::Epoll` epoll_wait before it) and sendto.
///
/// # Errors
/// When a call fails. That nobody is at the other end any more (ECONNREFUSED) ends the service.
pub fn echo(
    socket: impl AsFd,
    datagram: &mut [u8],
    wait: Wait,
    is_over: IsOver<'_>,
) -> Result<Account, ServiceError> {
    let _ = (socket.as_fd(), datagram, wait, is_over);
    todo!()
}

/// Receives and checks numbered datagrams of `datagram.len()` bytes, and counts lost, doubled and overtaken ones.
///
/// System calls per datagram: recvfrom.
///
/// # Errors
/// When a call fails.
pub fn sink(
    socket: impl AsFd,
    datagram: &mut [u8],
    content: Content,
    is_over: IsOver<'_>,
) -> Result<Account, ServiceError> {
    let _ = (socket.as_fd(), datagram, content, is_over);
    todo!()
}

/// Sends numbered and stamped datagrams of `datagram.len()` bytes, `rate` of them a second or as fast as they go.
///
/// System calls per datagram: sendto, and clock_nanosleep where it is early.
///
/// # Errors
/// When a call fails. That nobody is at the other end any more (ECONNREFUSED) ends the service.
pub fn source(
    socket: impl AsFd,
    datagram: &mut [u8],
    content: Content,
    rate: Option<u32>,
    is_over: IsOver<'_>,
) -> Result<Account, ServiceError> {
    let _ = (socket.as_fd(), datagram, content, rate, is_over);
    todo!()
}

/// Numbers and stamps a datagram for [`sink`]; returns what it adds to the checksum.
pub fn stamp(number: u64, datagram: &mut [u8], content: Content) -> u64 {
    let _ = (number, datagram, content);
    todo!()
}
