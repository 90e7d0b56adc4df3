//! TCP's own options, and waiting by epoll.
#![allow(unsafe_code)] // TCP_INFO has no wrapper in rustix

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll;
use rustix::net::sockopt;

/// Fills `bytes` with the beginning of the kernel's `struct tcp_info`; returns how many bytes the
/// kernel filled in.
pub(crate) fn tcp_info(socket: BorrowedFd<'_>, bytes: &mut [u8]) -> io::Result<usize> {
    let mut length = bytes.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `bytes`, which has that many.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            bytes.as_mut_ptr().cast(),
            &mut length,
        )
    };
    match result {
        0 => Ok(length as usize),
        _ => Err(io::Error::last_os_error()),
    }
}

pub(crate) fn congestion(socket: BorrowedFd<'_>) -> io::Result<String> {
    Ok(sockopt::tcp_congestion(socket)?)
}

pub(crate) fn set_congestion(socket: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    Ok(sockopt::set_tcp_congestion(socket, name)?)
}

/// An epoll instance that waits for one socket to be readable.
#[derive(Debug)]
pub(crate) struct Epoll(OwnedFd);

impl Epoll {
    pub(crate) fn of(socket: BorrowedFd<'_>) -> io::Result<Epoll> {
        let instance = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let nothing = epoll::EventData::new_u64(0);
        let events = epoll::EventFlags::IN | epoll::EventFlags::RDHUP;
        epoll::add(&instance, socket, nothing, events)?;
        Ok(Epoll(instance))
    }

    /// Waits for the socket; whether it became readable in time.
    #[inline]
    pub(crate) fn wait(&self, limit: Option<Duration>) -> io::Result<bool> {
        let mut events = [MaybeUninit::uninit(); 1];
        let limit = limit.map(|limit| limit.try_into().expect("seconds fit"));
        let (ready, _) = epoll::wait(&self.0, &mut events, limit.as_ref())?;
        Ok(!ready.is_empty())
    }
}
