//! A process made by fork, and memory that stays shared with it.
#![allow(unsafe_code)] // fork and mmap

use std::io;
use std::os::fd::BorrowedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use rustix::process::{Pid, WaitOptions};

/// Exit code of a child whose function panicked; Rust's own for a panic in `main`.
pub(super) const PANICKED: i32 = 101;

/// Forks; the child runs `body` and exits with what it returns, without running any destructor.
pub(crate) fn fork(body: &mut dyn FnMut() -> i32) -> io::Result<u32> {
    // SAFETY: the child goes on with a copy of this thread alone. It leaves by _exit and never
    // unwinds into the caller's frames. glibc makes its allocator usable in the child whatever
    // other threads are doing.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let code = catch_unwind(AssertUnwindSafe(body)).unwrap_or(PANICKED);
            // SAFETY: ends the process immediately.
            unsafe { libc::_exit(code) }
        }
        child => Ok(child.cast_unsigned()),
    }
}

/// Waits until a child has ended and returns its exit code, or 128 plus the number of the signal
/// that ended it, as shells do.
pub(crate) fn wait_for(child: u32) -> io::Result<i32> {
    let pid = Pid::from_raw(child.cast_signed()).ok_or(io::ErrorKind::InvalidInput)?;
    let ended =
        rustix::io::retry_on_intr(|| rustix::process::waitpid(Some(pid), WaitOptions::empty()))?;
    let status = ended.map(|(_, status)| status);
    Ok(status
        .and_then(|status| {
            let signal = status.terminating_signal().map(|signal| 128 + signal);
            status.exit_status().or(signal)
        })
        .unwrap_or(-1))
}

/// Whether a read would not block, including because there is no writer left.
pub(crate) fn is_readable(reader: BorrowedFd<'_>) -> bool {
    let mut ready = [PollFd::from_borrowed_fd(reader, PollFlags::IN)];
    let at_once = Timespec::default();
    rustix::io::retry_on_intr(|| poll(&mut ready, Some(&at_once))).is_ok_and(|count| count > 0)
}

/// Waits this long, or until a signal arrives.
pub(crate) fn wait_for_nothing(length: Duration) -> io::Result<()> {
    let length = Timespec::try_from(length).map_err(io::Error::other)?;
    poll(&mut [], Some(&length))?;
    Ok(())
}

pub(crate) fn thread_id() -> u32 {
    rustix::thread::gettid()
        .as_raw_nonzero()
        .get()
        .cast_unsigned()
}

/// Zeroed memory that stays the same memory in processes forked from this one.
pub(crate) fn share(bytes: usize) -> io::Result<*mut u8> {
    // SAFETY: a mapping where the kernel likes it touches no memory in use.
    let memory = unsafe {
        mmap_anonymous(
            ptr::null_mut(),
            bytes,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED | MapFlags::POPULATE,
        )
    };
    Ok(memory?.cast())
}

/// Unmaps memory that [`share`] returned.
pub(crate) fn unshare(memory: *mut u8, bytes: usize) {
    // SAFETY: the caller gives up what `share` returned.
    let freed = unsafe { munmap(memory.cast(), bytes) };
    debug_assert!(freed.is_ok(), "{freed:?}");
}
