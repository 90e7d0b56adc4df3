//! Sending without copying: MSG_ZEROCOPY, sendfile(2) and splice(2), and memory to send from.
#![allow(unsafe_code)] // a mapping of a file

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use crate::{SystemError, os};

/// A range of sends by MSG_ZEROCOPY that the kernel is done with. They are numbered from 0 on each
/// socket, in 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completed {
    /// Number of the first send.
    pub first: u32,
    /// Number of the last send.
    pub last: u32,
    /// Whether the kernel copied the bytes nevertheless (SO_EE_CODE_ZEROCOPY_COPIED), as it does
    /// where the receiver is on this machine or the device cannot gather.
    pub copied: bool,
}

impl Completed {
    /// How many sends it covers.
    pub fn count(&self) -> u64 {
        u64::from(self.last.wrapping_sub(self.first)) + 1
    }
}

/// Lets a socket send by MSG_ZEROCOPY.
///
/// # Errors
/// When it cannot: kernels before 4.14, other kinds of sockets.
pub fn allow(socket: impl AsFd) -> Result<(), SystemError> {
    os::allow_zero_copy(socket.as_fd())
        .map_err(|cause| SystemError::new("setsockopt", "SO_ZEROCOPY", cause))
}

/// Sends from these bytes without copying them: one system call. They must not change until this
/// send is [`completed`].
///
/// # Errors
/// As send(2). `ENOBUFS` ([`is_full`]) says that too many are not completed yet.
#[inline]
pub fn send(socket: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    os::send_zero_copy(socket.as_fd(), bytes)
}

/// Whether [`send`] was refused because completions of earlier sends must be taken first.
pub fn is_full(error: &io::Error) -> bool {
    error.raw_os_error() == Some(os::NO_BUFFERS)
}

/// Takes one notification of completed sends, without waiting: one system call. `None` if there is none.
///
/// # Errors
/// As recvmsg(2), or when the queue holds an error that is not a completion.
pub fn completed(socket: impl AsFd) -> io::Result<Option<Completed>> {
    let Some(entry) = os::from_error_queue(socket.as_fd())? else {
        return Ok(None);
    };
    parse(&entry).map(Some)
}

/// `ee_origin` of a completion (SO_EE_ORIGIN_ZEROCOPY).
const ORIGIN: u8 = 5;

/// `ee_code` of a completion whose bytes were copied (SO_EE_CODE_ZEROCOPY_COPIED).
const COPIED: u8 = 1;

/// Reads `struct sock_extended_err` of linux/errqueue.h.
fn parse(entry: &[u8; 16]) -> io::Result<Completed> {
    let number =
        |at: usize| u32::from_ne_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]]);
    match (number(0), entry[4]) {
        (0, ORIGIN) => Ok(Completed {
            first: number(8),
            last: number(12),
            copied: entry[6] == COPIED,
        }),
        (errno, _) => Err(io::Error::from_raw_os_error(errno as i32)),
    }
}

/// A file in memory whose contents can be written in place: sending from it without copying sends
/// the memory itself.
#[derive(Debug)]
pub struct FileMemory {
    file: File,
    start: *mut u8,
    bytes: usize,
}

// SAFETY: it owns its mapping, which does not belong to any thread.
unsafe impl Send for FileMemory {}

impl FileMemory {
    /// A file of this many bytes, all zero.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn new(bytes: usize) -> Result<Self, SystemError> {
        let (file, start) = os::file_in_memory(bytes).map_err(|cause| {
            SystemError::new("memfd_create", format!("{bytes} bytes in memory"), cause)
        })?;
        Ok(Self { file, start, bytes })
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether the length is 0.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The contents, for writing.
    pub fn contents(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is this long, and borrowed as `self` is. Nothing else refers to the
        // file, and the kernel only reads from it.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.bytes) }
    }

    /// Sends bytes from this offset of the file by sendfile(2): one system call. Returns how many were sent.
    ///
    /// # Errors
    /// As sendfile(2).
    #[inline]
    pub fn send_file(&self, socket: impl AsFd, at: usize, bytes: usize) -> io::Result<usize> {
        os::send_file(socket.as_fd(), self.file.as_fd(), at as u64, bytes)
    }

    /// Moves bytes from this offset of the file into a pipe by splice(2): one system call. Returns
    /// how many were moved.
    ///
    /// # Errors
    /// As splice(2).
    #[inline]
    pub fn splice_into(&self, pipe: impl AsFd, at: usize, bytes: usize) -> io::Result<usize> {
        os::move_pages(self.file.as_fd(), Some(at as u64), pipe.as_fd(), bytes)
    }
}

impl Drop for FileMemory {
    fn drop(&mut self) {
        os::unmap(self.start, self.bytes);
    }
}

/// Moves bytes from a pipe to a socket by splice(2): one system call. Returns how many were moved.
///
/// # Errors
/// As splice(2).
#[inline]
pub fn splice_from(pipe: impl AsFd, socket: impl AsFd, bytes: usize) -> io::Result<usize> {
    os::move_pages(pipe.as_fd(), None, socket.as_fd(), bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, pipe};
    use std::net::TcpStream;

    use crate::tcp::tests::pair;

    fn received(far: &mut TcpStream, bytes: usize) -> Vec<u8> {
        let mut all = vec![0; bytes];
        far.read_exact(&mut all).unwrap();
        all
    }

    #[test]
    fn every_send_without_a_copy_is_completed_once() {
        let (near, mut far) = pair();
        or_skip!(allow(&near));
        let bytes = vec![7; 5000];
        for _ in 0..3 {
            assert_eq!(send(&near, &bytes).unwrap(), 5000);
        }
        assert_eq!(received(&mut far, 15_000), vec![7; 15_000]);
        let (mut count, mut next) = (0, 0);
        while count < 3 {
            let Some(done) = completed(&near).unwrap() else {
                std::thread::yield_now();
                continue;
            };
            assert_eq!(done.first, next, "{done:?}");
            // The receiver is on this machine.
            assert!(done.copied, "{done:?}");
            next = done.last + 1;
            count += done.count();
        }
        assert_eq!(completed(&near).unwrap(), None);
    }

    #[test]
    fn numbers_of_sends_wrap_around() {
        let around = Completed {
            first: u32::MAX,
            last: 1,
            copied: false,
        };
        assert_eq!(around.count(), 3);
    }

    #[test]
    fn what_is_no_completion_is_an_error() {
        let mut entry = [0; 16];
        entry[..4].copy_from_slice(&111_u32.to_ne_bytes());
        entry[4] = 2;
        assert_eq!(parse(&entry).unwrap_err().raw_os_error(), Some(111));
    }

    #[test]
    fn a_file_in_memory_is_sent_from_where_it_is_asked_to() {
        let mut file = or_skip!(FileMemory::new(8192));
        assert_eq!(file.len(), 8192);
        file.contents()[4096..].fill(3);
        let (near, mut far) = pair();
        assert_eq!(file.send_file(&near, 4000, 200).unwrap(), 200);
        let got = received(&mut far, 200);
        assert_eq!((got[95], got[96]), (0, 3));
        let (out, into) = pipe().unwrap();
        assert_eq!(file.splice_into(&into, 4095, 2).unwrap(), 2);
        assert_eq!(splice_from(&out, &near, 2).unwrap(), 2);
        assert_eq!(received(&mut far, 2), [0, 3]);
    }
}
