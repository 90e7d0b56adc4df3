//! The main loop of a service, and its receiving and sending calls.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use syscost_sys::tcp::Readable;

use super::account::Span;
use super::{Account, IsOver, ServiceError, Wait};

/// The main loop of a service: takes steps until one returns false, or the service is over. A step
/// begins the span once the first message is there.
#[inline]
pub(super) fn serve(
    mut account: Account,
    is_over: IsOver<'_>,
    mut step: impl FnMut(&mut Account, &mut Span, IsOver<'_>) -> Result<bool, ServiceError>,
) -> Result<Account, ServiceError> {
    let mut span = Span::default();
    while step(&mut account, &mut span, is_over)? && !is_over(&account) {}
    span.end(&mut account);
    Ok(account)
}

/// The result of a receiving call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// This many bytes: for a datagram its whole length, even if the buffer was smaller.
    Bytes(usize),
    /// The other end has closed.
    End,
    /// Nothing: a timeout or an interruption, or nothing had arrived yet.
    Nothing,
}

/// Makes one receiving call.
#[inline]
pub(super) fn receive(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
    flags: RecvFlags,
) -> Result<Came, Errno> {
    match recv(socket, buffer, flags) {
        Ok((_, 0)) => Ok(Came::End),
        Ok((_, bytes)) => Ok(Came::Bytes(bytes)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(Came::Nothing),
        Err(cause) => Err(cause),
    }
}

/// Sends all of the bytes, unless `goes_on` returns false after a partial call.
///
/// Returns how many were sent, and the error if a call failed.
#[inline]
pub(super) fn send_all(
    socket: BorrowedFd<'_>,
    bytes: &[u8],
    mut goes_on: impl FnMut() -> bool,
) -> (usize, Result<(), Errno>) {
    let mut sent = 0;
    while sent < bytes.len() {
        match send(socket, &bytes[sent..], SendFlags::NOSIGNAL) {
            Ok(count) => sent += count,
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(cause) => return (sent, Err(cause)),
        }
        if sent < bytes.len() && !goes_on() {
            break;
        }
    }
    (sent, Ok(()))
}

/// Receives for an echo, waiting in the way that was chosen.
pub(super) struct Receiver<'s> {
    socket: BorrowedFd<'s>,
    readable: Option<Readable>,
    flags: RecvFlags,
}

impl<'s> Receiver<'s> {
    /// `flags` are those of blocking calls.
    pub(super) fn new(
        socket: BorrowedFd<'s>,
        wait: Wait,
        flags: RecvFlags,
    ) -> Result<Self, ServiceError> {
        let (readable, flags) = match wait {
            Wait::Block => (None, flags),
            Wait::Spin => (None, flags | RecvFlags::DONTWAIT),
            Wait::Epoll => {
                let readable = Readable::of(socket).map_err(|error| ServiceError {
                    operation: error.operation,
                    messages: 0,
                    cause: error.cause,
                })?;
                (Some(readable), flags | RecvFlags::DONTWAIT)
            }
        };
        Ok(Self {
            socket,
            readable,
            flags,
        })
    }

    #[inline]
    pub(super) fn receive(&self, buffer: &mut [u8]) -> Result<Came, Errno> {
        if let Some(readable) = &self.readable
            && let Err(cause) = readable.wait()
        {
            let cause = Errno::from_io_error(&cause).unwrap_or(Errno::IO);
            return match cause {
                Errno::INTR => Ok(Came::Nothing),
                cause => Err(cause),
            };
        }
        receive(self.socket, buffer, self.flags)
    }
}

/// The error of a call that failed after the messages of this account.
pub(super) fn failed(
    operation: &'static str,
    account: &Account,
) -> impl Fn(Errno) -> ServiceError + use<> {
    let messages = account.messages;
    move |cause| ServiceError {
        operation,
        messages,
        cause: io::Error::from(cause),
    }
}

/// The first word of a message, little-endian, zero beyond its end.
#[inline]
pub(super) fn first_word(message: &[u8]) -> u64 {
    let mut word = [0; 8];
    let length = message.len().min(word.len());
    word[..length].copy_from_slice(&message[..length]);
    u64::from_le_bytes(word)
}
