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
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    use std::thread;

    use super::*;
    use crate::content::Content;
    use crate::service::release;

    fn tcp() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    #[test]
    fn an_echo_answers_each_message_and_adds_its_nonces_up() {
        for wait in Wait::ALL {
            for size in [1, 8, 100, 70_000] {
                let (mut near, far) = tcp();
                let echo = thread::spawn(move || {
                    echo(&far, &mut vec![0; size], wait, &mut |_| false).unwrap()
                });
                let (mut sum, mut answer) = (0_u64, vec![0; size]);
                for nonce in 1..=20_u64 {
                    let mut message = vec![nonce as u8; size];
                    let head = size.min(8);
                    message[..head].copy_from_slice(&(nonce * 0x0101).to_le_bytes()[..head]);
                    near.write_all(&message).unwrap();
                    near.read_exact(&mut answer).unwrap();
                    assert_eq!(answer, message);
                    sum = sum.wrapping_add(first_word(&message));
                }
                drop(near);
                let account = echo.join().unwrap();
                assert_eq!((account.messages, account.bytes), (20, 20 * size as u64));
                assert_eq!((account.checksum, account.wrong), (sum, 0));
                assert!(account.elapsed_ns > 0, "{account:?}");
            }
        }
    }

    #[test]
    fn an_echo_ends_when_it_is_over_however_it_waits() {
        static IS_OVER: AtomicBool = AtomicBool::new(false);
        for wait in Wait::ALL {
            IS_OVER.store(false, Relaxed);
            let (mut near, far) = tcp();
            let theirs = far.try_clone().unwrap();
            let echo = thread::spawn(move || {
                echo(&far, &mut [0; 4], wait, &mut |_| IS_OVER.load(Relaxed)).unwrap()
            });
            near.write_all(b"four").unwrap();
            near.read_exact(&mut [0; 4]).unwrap();
            // The beginning of a message that never ends.
            near.write_all(b"xy").unwrap();
            IS_OVER.store(true, Relaxed);
            release(&theirs);
            let account = echo.join().unwrap();
            assert_eq!((account.messages, account.bytes), (1, 4));
            assert!(account.wrong <= 2);
        }
    }

    #[test]
    fn a_client_that_leaves_without_its_answer_is_an_error_of_the_echo() {
        let (mut near, far) = tcp();
        // The answer reaches no client: the connection is reset.
        rustix::net::sockopt::set_socket_linger(&near, Some(std::time::Duration::ZERO)).unwrap();
        near.write_all(&[1; 4]).unwrap();
        drop(near);
        let mut messages = 0;
        let result = echo(&far, &mut [0; 4], Wait::Block, &mut |account| {
            messages = account.messages;
            false
        });
        let error = result.unwrap_err().to_string();
        assert!(error.contains("reset"), "{error}");
        assert!(messages <= 1);
    }

    #[test]
    fn a_sink_gets_what_a_source_sends() {
        for content in [Content::Whole, Content::Sparse] {
            for (size, buffer) in [(1, 7), (4096, 4096), (65_536, 1000)] {
                let (near, far) = tcp();
                let source = thread::spawn(move || {
                    let mut is_over = |account: &Account| account.bytes >= 300_000;
                    source(&far, &mut vec![0; size], content, &mut is_over).unwrap()
                });
                let received = sink(&near, &mut vec![0; buffer], content, &mut |_| false).unwrap();
                let sent = source.join().unwrap();
                assert_eq!(received.bytes, sent.bytes);
                assert_eq!((received.checksum, received.wrong), (sent.checksum, 0));
                assert_eq!((sent.connections, received.connections), (1, 1));
            }
        }
    }

    #[test]
    fn a_source_ends_when_its_peer_leaves_and_accounts_for_what_it_sent() {
        let (mut near, far) = UnixStream::pair().unwrap();
        let source = thread::spawn(move || {
            source(&far, &mut [0; 10_000], Content::Whole, &mut |_| false).unwrap()
        });
        near.read_exact(&mut [0; 25_000]).unwrap();
        drop(near);
        let account = source.join().unwrap();
        assert!(account.bytes >= 25_000, "{account:?}");
        // The sum is of the bytes that were taken from it.
        let mut all = vec![0; account.bytes as usize];
        assert_eq!(Content::Whole.stamp(0, &mut all), account.checksum);
    }

    #[test]
    fn what_is_not_the_content_is_wrong() {
        let (mut near, far) = tcp();
        let mut bytes = vec![0; 64 << 10];
        Content::Whole.stamp(0, &mut bytes);
        bytes[12_345] ^= 0xff;
        near.write_all(&bytes).unwrap();
        drop(near);
        let account = sink(&far, &mut [0; 5000], Content::Whole, &mut |_| false).unwrap();
        assert_eq!((account.bytes, account.wrong), (64 << 10, 1));
    }
}
