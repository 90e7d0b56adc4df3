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
mod tests {
    use std::net::UdpSocket;
    use std::thread;
    use std::time::Instant;

    use super::*;
    use crate::service::Order;

    /// Two connected sockets.
    fn pair() -> (UdpSocket, UdpSocket) {
        let near = UdpSocket::bind("127.0.0.1:0").unwrap();
        let far = UdpSocket::bind("127.0.0.1:0").unwrap();
        near.connect(far.local_addr().unwrap()).unwrap();
        far.connect(near.local_addr().unwrap()).unwrap();
        (near, far)
    }

    #[test]
    fn an_echo_answers_datagrams_of_its_size_until_an_empty_one() {
        for wait in Wait::ALL {
            for size in [1, 64, 1400] {
                let (near, far) = pair();
                let echo = thread::spawn(move || {
                    echo(&far, &mut vec![0; size], wait, &mut |_| false).unwrap()
                });
                let mut answer = [0; 2000];
                near.send(&vec![9; size + 1]).unwrap();
                for number in 1..=10 {
                    let datagram = vec![number; size];
                    near.send(&datagram).unwrap();
                    let came = near.recv(&mut answer).unwrap();
                    assert_eq!(&answer[..came], &datagram);
                }
                near.send(&[]).unwrap();
                let account = echo.join().unwrap();
                assert_eq!((account.messages, account.bytes), (10, 10 * size as u64));
                assert_eq!(account.wrong, size as u64 + 1, "the one of another size");
            }
        }
    }

    #[test]
    fn an_echo_ends_when_its_peer_is_gone() {
        let (near, far) = pair();
        near.send(&[1; 8]).unwrap();
        drop(near);
        let mut is_over = |account: &Account| account.messages > 10;
        let account = echo(&far, &mut [0; 8], Wait::Block, &mut is_over).unwrap();
        assert!(account.messages <= 1, "{account:?}");
    }

    #[test]
    fn a_sink_counts_lost_duplicated_and_reordered_datagrams() {
        let (near, far) = pair();
        let (mut datagram, mut sum) = ([0; 100], 0_u64);
        for number in [0, 1, 2, 5, 4, 4, 8] {
            let checksum = stamp(number, &mut datagram, Content::Whole);
            near.send(&datagram).unwrap();
            sum = sum.wrapping_add(checksum);
        }
        // The second 4 is a duplicate.
        sum = sum.wrapping_sub(stamp(4, &mut datagram, Content::Whole));
        near.send(&[]).unwrap();
        let account = sink(&far, &mut [0; 100], Content::Whole, &mut |_| false).unwrap();
        let order = Order {
            expected: 9,
            distinct: 6,
            duplicated: 1,
            reordered: 1,
        };
        assert_eq!(account.order, Some(order));
        assert_eq!(order.lost(), 3);
        assert_eq!((account.messages, account.wrong), (7, 0));
        assert_eq!(account.checksum, sum);
    }

    #[test]
    fn wrong_content_numbers_and_sizes_are_noticed() {
        let (near, far) = pair();
        let mut datagram = [0; 64];
        stamp(0, &mut datagram, Content::Whole);
        datagram[40] ^= 1;
        near.send(&datagram).unwrap();
        near.send(&[0xff; 64]).unwrap();
        near.send(&[0; 65]).unwrap();
        near.send(&[]).unwrap();
        let account = sink(&far, &mut [0; 64], Content::Whole, &mut |_| false).unwrap();
        assert_eq!(account.wrong, 1 + 64 + 65);
        assert_eq!(account.messages, 2);
    }

    #[test]
    fn a_source_keeps_its_rate_and_its_sink_receives_all_of_it() {
        let (near, far) = pair();
        let begun = Instant::now();
        let source = thread::spawn(move || {
            let mut is_over = |account: &Account| account.messages == 100;
            source(
                &far,
                &mut [0; 200],
                Content::Whole,
                Some(2000),
                &mut is_over,
            )
            .unwrap()
        });
        let mut is_over = |account: &Account| account.messages == 100;
        let received = sink(&near, &mut [0; 200], Content::Whole, &mut is_over).unwrap();
        let sent = source.join().unwrap();
        // The last is due after 99 intervals of half a millisecond; it can be later, but not earlier.
        assert!(begun.elapsed().as_micros() >= 49_500);
        assert_eq!(
            (received.bytes, received.checksum),
            (sent.bytes, sent.checksum)
        );
        assert_eq!(received.order.unwrap().lost(), 0);
    }
}
