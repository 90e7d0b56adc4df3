//! Shared: how the near end waits for an answer.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{RecvFlags, recv};
use syscost_harness::prelude::{Failure, Tried};
use syscost_net::Wait;
use syscost_sys::tcp::Readable;

/// Receiving calls between two readings of the clock, when spinning.
const TRIES: u32 = 1024;

/// Receives from a socket, waiting in one of the ways.
pub(crate) struct Waiting {
    wait: Wait,
    readable: Option<Readable>,
    flags: RecvFlags,
    /// The time limit; without one the kernel sets no timer.
    limit: Option<Duration>,
}

impl Waiting {
    /// Waits for this socket, which must stay open meanwhile. `flags` are those of blocking calls.
    pub(crate) fn new(
        socket: impl AsFd,
        wait: Wait,
        flags: RecvFlags,
        limit: Option<Duration>,
    ) -> Result<Self, Failure> {
        let socket = socket.as_fd();
        set_socket_timeout(socket, Timeout::Recv, limit.filter(|_| wait == Wait::Block))
            .tried("set SO_RCVTIMEO")?;
        let readable = match wait {
            Wait::Epoll => Some(Readable::of(socket)?),
            Wait::Block | Wait::Spin => None,
        };
        Ok(Self {
            wait,
            readable,
            flags,
            limit,
        })
    }

    /// Receives and returns the number of bytes, 0 at the end of a stream; `None` if none came in time.
    #[inline]
    pub(crate) fn receive(
        &self,
        socket: BorrowedFd<'_>,
        buffer: &mut [u8],
    ) -> Result<Option<usize>, Errno> {
        match self.wait {
            Wait::Block => loop {
                match recv(socket, &mut *buffer, self.flags) {
                    Ok((_, bytes)) => return Ok(Some(bytes)),
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => return Ok(None),
                    Err(errno) => return Err(errno),
                }
            },
            Wait::Epoll => loop {
                if !self.is_readable()? {
                    return Ok(None);
                }
                if let Some(bytes) = at_once(socket, buffer, self.flags)? {
                    return Ok(Some(bytes));
                }
            },
            Wait::Spin => self.spin(socket, buffer),
        }
    }

    /// Waits by epoll; false if the time limit passes.
    fn is_readable(&self) -> Result<bool, Errno> {
        let Some(readable) = &self.readable else {
            return Ok(false);
        };
        loop {
            let waited = match self.limit {
                Some(limit) => readable.wait_within(limit),
                None => readable.wait().map(|()| true),
            };
            match waited.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO)) {
                Err(Errno::INTR) => {}
                other => return other,
            }
        }
    }

    fn spin(&self, socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<Option<usize>, Errno> {
        let mut begun = None;
        loop {
            for _ in 0..TRIES {
                if let Some(bytes) = at_once(socket, buffer, self.flags)? {
                    return Ok(Some(bytes));
                }
            }
            let waited = begun.get_or_insert_with(Instant::now).elapsed();
            if self.limit.is_some_and(|limit| waited > limit) {
                return Ok(None);
            }
        }
    }
}

/// Receives without waiting; `None` if nothing has come yet.
#[inline]
fn at_once(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
    flags: RecvFlags,
) -> Result<Option<usize>, Errno> {
    match recv(socket, buffer, flags | RecvFlags::DONTWAIT) {
        Ok((_, bytes)) => Ok(Some(bytes)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(errno) => Err(errno),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use syscost_sys::or_skip;

    #[test]
    fn every_way_to_wait_receives_and_ends_in_time() {
        let socket = or_skip!(UdpSocket::bind("127.0.0.1:0"), "no loopback here");
        let own = socket.local_addr().unwrap();
        for wait in Wait::ALL {
            let limit = Some(Duration::from_millis(10));
            let waiting = Waiting::new(&socket, wait, RecvFlags::TRUNC, limit).unwrap();
            let mut buffer = [0; 4];
            let came = waiting.receive(socket.as_fd(), &mut buffer);
            assert_eq!(came, Ok(None), "{wait:?}");
            socket.send_to(&[7; 6], own).unwrap();
            let came = waiting.receive(socket.as_fd(), &mut buffer);
            assert_eq!((came, buffer), (Ok(Some(6)), [7; 4]), "{wait:?}");
        }
    }
}
