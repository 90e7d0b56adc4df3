//! Sending from memory that the kernel refers to instead of copying it.
#![allow(unsafe_code)] // the error queue and a mapping of a file have no safe wrapper in rustix

use std::fs::File;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use rustix::fs::{MemfdFlags, memfd_create, sendfile};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap};
use rustix::pipe::{SpliceFlags, splice};

/// Room for one control message of the error queue, followed by the address that caused it, in words.
const CONTROL_WORDS: usize = 16;

/// Lets a socket send with MSG_ZEROCOPY.
pub(crate) fn allow_zero_copy(socket: BorrowedFd<'_>) -> io::Result<()> {
    let yes: libc::c_int = 1;
    // SAFETY: the kernel reads an int.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_ZEROCOPY,
            (&raw const yes).cast(),
            size_of_val(&yes) as libc::socklen_t,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// sendto(2) with MSG_ZEROCOPY.
#[inline]
pub(crate) fn send_zero_copy(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    let flags = libc::MSG_ZEROCOPY | libc::MSG_NOSIGNAL;
    // SAFETY: the kernel reads this many bytes from there, now or until it reports that it is done
    // with them; changing them meanwhile changes what is sent and nothing else.
    let sent = unsafe {
        libc::send(
            socket.as_raw_fd(),
            bytes.as_ptr().cast(),
            bytes.len(),
            flags,
        )
    };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// One entry of a socket's error queue: `struct sock_extended_err` in raw form; `None` if there is none.
#[allow(clippy::unnecessary_cast)] // lengths are of different types in different C libraries
pub(crate) fn from_error_queue(socket: BorrowedFd<'_>) -> io::Result<Option<[u8; 16]>> {
    let mut control = [0_u64; CONTROL_WORDS];
    // SAFETY: a header of zeros is one without buffers and addresses.
    let mut header: libc::msghdr = unsafe { mem::zeroed() };
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = size_of_val(&control) as _;
    let flags = libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT;
    // SAFETY: the header names the room for control messages and its true length.
    if unsafe { libc::recvmsg(socket.as_raw_fd(), &mut header, flags) } < 0 {
        let error = io::Error::last_os_error();
        return match error.kind() {
            io::ErrorKind::WouldBlock => Ok(None),
            _ => Err(error),
        };
    }
    // SAFETY: the kernel has filled in the header and what it points to.
    let mut message = unsafe { libc::CMSG_FIRSTHDR(&header) };
    while !message.is_null() {
        // SAFETY: it is the header of a control message within the room.
        let (level, kind, length) = unsafe {
            (
                (*message).cmsg_level,
                (*message).cmsg_type,
                (*message).cmsg_len,
            )
        };
        let is_of_ip = matches!(
            (level, kind),
            (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR)
        );
        let mut entry = [0; 16];
        // SAFETY: pure arithmetic.
        let least = unsafe { libc::CMSG_LEN(entry.len() as u32) };
        if is_of_ip && length as usize >= least as usize {
            // SAFETY: the message's data is at least this long.
            unsafe {
                ptr::copy_nonoverlapping(libc::CMSG_DATA(message), entry.as_mut_ptr(), entry.len());
            }
            return Ok(Some(entry));
        }
        // SAFETY: as CMSG_FIRSTHDR.
        message = unsafe { libc::CMSG_NXTHDR(&header, message) };
    }
    Ok(None)
}

/// A file in memory of this size, and a mapping of its contents.
pub(crate) fn file_in_memory(bytes: usize) -> io::Result<(File, *mut u8)> {
    let file = File::from(memfd_create("syscost-content", MemfdFlags::CLOEXEC)?);
    file.set_len(bytes as u64)?;
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use.
    let start = unsafe { mmap(ptr::null_mut(), bytes, access, MapFlags::SHARED, &file, 0) }?;
    Ok((file, start.cast()))
}

/// sendfile(2).
#[inline]
pub(crate) fn send_file(
    socket: BorrowedFd<'_>,
    file: BorrowedFd<'_>,
    at: u64,
    bytes: usize,
) -> io::Result<usize> {
    let mut at = at;
    Ok(sendfile(socket, file, Some(&mut at), bytes)?)
}

/// splice(2), from this offset of a file, or from a pipe if there is no offset.
#[inline]
pub(crate) fn move_pages(
    from: BorrowedFd<'_>,
    at: Option<u64>,
    to: BorrowedFd<'_>,
    bytes: usize,
) -> io::Result<usize> {
    let mut at = at;
    match splice(from, at.as_mut(), to, None, bytes, SpliceFlags::empty()) {
        Ok(moved) => Ok(moved),
        Err(Errno::INTR) => Err(io::ErrorKind::Interrupted.into()),
        Err(error) => Err(error.into()),
    }
}
