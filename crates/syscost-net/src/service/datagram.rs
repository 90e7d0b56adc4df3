//! Services on a connected datagram socket: UDP or a Unix socket.

use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::account::Span;
use super::order::Ledger;
use super::pace::Pace;
use super::transfer::{Came, Receiver, failed, first_word, receive, send_all};
use super::{Account, IsOver, ServiceError, Wait};
use crate::content::Content;

/// Size of the number at the beginning of a datagram, in bytes; it is little-endian.
pub const NUMBER_BYTES: usize = 8;

/// Numbers from here on are never reached: such a number was never sent.
const MAX_NUMBER: u64 = 1 << 40;

/// Answers each datagram of `datagram.len()` bytes with the same bytes; others are counted as wrong
/// and not answered.
///
/// System calls per datagram: recvfrom (with `Wait::Epoll` epoll_wait before it) and sendto.
///
/// # Errors
/// When a call fails. If the peer is gone (ECONNREFUSED), the service ends without an error.
pub fn echo(
    socket: impl AsFd,
    datagram: &mut [u8],
    wait: Wait,
    is_over: IsOver<'_>,
) -> Result<Account, ServiceError> {
    let socket = socket.as_fd();
    let receiver = Receiver::new(socket, wait, RecvFlags::TRUNC)?;
    let (mut account, mut span) = (Account::default(), Span::default());
    loop {
        match receiver.receive(datagram) {
            Ok(Came::Bytes(size)) if size == datagram.len() => {
                span.begin();
                let (_, sent) = send_all(socket, datagram, || !is_over(&account));
                match sent {
                    Ok(()) => {}
                    Err(cause) if is_peer_gone(cause) => break,
                    Err(cause) => return Err(failed("sendto", &account)(cause)),
                }
                account.messages += 1;
                account.bytes += size as u64;
                account.checksum = account.checksum.wrapping_add(first_word(datagram));
            }
            Ok(Came::Bytes(size)) => account.wrong += size as u64,
            Ok(Came::Nothing) => {}
            Ok(Came::End) => break,
            Err(cause) if is_peer_gone(cause) => break,
            Err(cause) => return Err(failed("recvfrom", &account)(cause)),
        }
        if is_over(&account) {
            break;
        }
    }
    span.end(&mut account);
    Ok(account)
}

/// Receives and checks numbered datagrams of `datagram.len()` bytes, and counts lost, duplicated and
/// reordered ones.
///
/// The checksum excludes duplicates.
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
    let socket = socket.as_fd();
    let (mut account, mut span) = (Account::default(), Span::default());
    let mut ledger = Ledger::default();
    loop {
        match receive(socket, datagram, RecvFlags::TRUNC) {
            Ok(Came::Bytes(size)) if size == datagram.len() => {
                span.begin();
                account.messages += 1;
                account.bytes += size as u64;
                judge(datagram, content, &mut ledger, &mut account);
            }
            Ok(Came::Bytes(size)) => account.wrong += size as u64,
            Ok(Came::Nothing) => {}
            Ok(Came::End) => break,
            Err(cause) if is_peer_gone(cause) => break,
            Err(cause) => return Err(failed("recvfrom", &account)(cause)),
        }
        if is_over(&account) {
            break;
        }
    }
    span.end(&mut account);
    account.order = Some(ledger.order());
    Ok(account)
}

/// Checks and counts a datagram of the right size.
#[inline]
fn judge(datagram: &[u8], content: Content, ledger: &mut Ledger, account: &mut Account) {
    let number = first_word(datagram);
    if number >= MAX_NUMBER {
        account.wrong += datagram.len() as u64;
        return;
    }
    let rest = &datagram[NUMBER_BYTES.min(datagram.len())..];
    let checked = content.check(position(number, datagram.len()), rest);
    account.wrong += checked.wrong;
    if ledger.take(number) {
        let sum = number.wrapping_add(checked.checksum);
        account.checksum = account.checksum.wrapping_add(sum);
    }
}

/// Sends numbered and stamped datagrams of `datagram.len()` bytes, `rate` per second or as fast as
/// possible.
///
/// Delays of more than a millisecond are not made up for: [`Account::forfeited_ns`].
///
/// System calls per datagram: sendto, and clock_nanosleep if it is early.
///
/// # Errors
/// When a call fails. If the peer is gone (ECONNREFUSED), the service ends without an error.
pub fn source(
    socket: impl AsFd,
    datagram: &mut [u8],
    content: Content,
    rate: Option<u32>,
    is_over: IsOver<'_>,
) -> Result<Account, ServiceError> {
    let socket = socket.as_fd();
    let (mut account, mut span) = (Account::default(), Span::default());
    let mut pace = rate.map(Pace::new);
    span.begin();
    loop {
        let number = account.messages;
        if let Some(pace) = &mut pace
            && !pace.wait_for(number, || is_over(&account))
        {
            break;
        }
        let checksum = stamp(number, datagram, content);
        let (_, sent) = send_all(socket, datagram, || !is_over(&account));
        match sent {
            Ok(()) => {
                account.messages += 1;
                account.bytes += datagram.len() as u64;
                account.checksum = account.checksum.wrapping_add(checksum);
            }
            Err(cause) if is_peer_gone(cause) => break,
            Err(cause) => return Err(failed("sendto", &account)(cause)),
        }
        if is_over(&account) {
            break;
        }
    }
    span.end(&mut account);
    account.forfeited_ns = pace.map_or(0, |pace| pace.forfeited_ns(account.messages));
    Ok(account)
}

/// Numbers and stamps a datagram of at least [`NUMBER_BYTES`] for [`sink`], and returns what it adds
/// to the checksum.
#[inline]
pub fn stamp(number: u64, datagram: &mut [u8], content: Content) -> u64 {
    let position = position(number, datagram.len());
    let (head, rest) = datagram.split_at_mut(NUMBER_BYTES);
    head.copy_from_slice(&number.to_le_bytes());
    number.wrapping_add(content.stamp(position, rest))
}

/// Position of a datagram's content in the stream of all datagrams of this size.
fn position(number: u64, size: usize) -> u64 {
    number * size as u64
}

/// Whether the error means that the peer is gone.
fn is_peer_gone(cause: Errno) -> bool {
    matches!(cause, Errno::CONNREFUSED | Errno::PIPE | Errno::CONNRESET)
}

#[cfg(test)]
mod tests;
