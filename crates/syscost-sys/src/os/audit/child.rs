//! The child's side: install the filter, hand the listener over, run the operation, exit.
#![allow(unsafe_code)] // fork, and system calls past the filter

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::process::Pid;

use super::filter;

/// The child's first message: the step that failed and its errno, or [`READY`] and 0 with the
/// listener.
pub(super) type Greeting = [i32; 2];

/// Everything is in place.
pub(super) const READY: i32 = 0;
/// The step that was refused: following the parent's death, no_new_privs, or the filter.
pub(super) const NO_PARENT: i32 = 1;
pub(super) const NO_NEW_PRIVS: i32 = 2;
pub(super) const NO_FILTER: i32 = 3;

/// Room for one control message of one descriptor, aligned as the kernel wants it.
pub(super) type Control = [u64; 8];

/// A pair of connected sockets: the parent's end and the child's.
pub(super) fn channel() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends: [RawFd; 2] = [-1; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: `ends` is room for two descriptors.
    if unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has just made both, and nothing else owns them.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

/// Forks the child, which runs `op` and never returns from here.
pub(super) fn fork(near: &OwnedFd, far: &OwnedFd, op: &mut dyn FnMut()) -> io::Result<Pid> {
    let parent = rustix::process::getpid();
    // SAFETY: the child goes on with a copy of this thread alone; it leaves by exit_group and never
    // unwinds into the caller's frames. That the caller should have one thread is said at
    // `count_syscalls`.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => run(parent, near.as_raw_fd(), far.as_raw_fd(), op),
        child => {
            Ok(Pid::from_raw(child).expect("fork returns a positive process id to the parent"))
        }
    }
}

fn run(parent: Pid, near: RawFd, far: RawFd, op: &mut dyn FnMut()) -> ! {
    match prepare(parent, near) {
        Err((step, error)) => {
            greet(far, [step, error.raw_os_error().unwrap_or(0)], None);
            leave(1)
        }
        Ok(listener) => {
            greet(far, [READY, 0], Some(listener));
            // The operation finds the descriptors the parent had, and no others.
            close(listener);
            close(far);
        }
    }
    // From here every system call is counted, until `leave`.
    match catch_unwind(AssertUnwindSafe(op)) {
        Ok(()) => leave(super::FINISHED),
        Err(_) => leave(super::PANICKED),
    }
}

fn prepare(parent: Pid, near: RawFd) -> Result<RawFd, (i32, io::Error)> {
    close(near);
    let followed =
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    followed.map_err(|error| (NO_PARENT, error.into()))?;
    if rustix::process::getppid() != Some(parent) {
        return Err((NO_PARENT, io::Error::from_raw_os_error(libc::ESRCH)));
    }
    // A group of its own, so that a signal to the operation's group does not reach the parent.
    let _ = rustix::process::setpgid(None, None);
    rustix::thread::set_no_new_privs(true).map_err(|error| (NO_NEW_PRIVS, error.into()))?;
    filter::install().map_err(|error| (NO_FILTER, error))
}

/// Sends the greeting, with the listener if there is one. Should it fail, the parent sees the
/// channel close.
fn greet(far: RawFd, mut greeting: Greeting, listener: Option<RawFd>) {
    let mut control: Control = [0; 8];
    let mut part = libc::iovec {
        iov_base: greeting.as_mut_ptr().cast(),
        iov_len: size_of::<Greeting>(),
    };
    // SAFETY: msghdr is plain numbers and pointers, for which zero is a value.
    let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    if let Some(listener) = listener {
        message.msg_control = control.as_mut_ptr().cast();
        // SAFETY: `control` has room for one header and one descriptor, so the first header is
        // inside it.
        unsafe {
            message.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as _;
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
            libc::CMSG_DATA(header)
                .cast::<RawFd>()
                .write_unaligned(listener);
        }
    }
    // SAFETY: the message and all it points to live until the call returns.
    unsafe {
        let flags = libc::MSG_NOSIGNAL as usize;
        filter::unreported(
            libc::SYS_sendmsg,
            far as usize,
            (&raw const message).addr(),
            flags,
        );
    }
}

fn close(fd: RawFd) {
    // SAFETY: the child's own copy of a descriptor that nothing in the child uses again.
    unsafe {
        filter::unreported(libc::SYS_close, fd as usize, 0, 0);
    }
}

fn leave(code: i32) -> ! {
    loop {
        // SAFETY: ends the process.
        unsafe {
            filter::unreported(libc::SYS_exit_group, code as usize, 0, 0);
        }
    }
}
