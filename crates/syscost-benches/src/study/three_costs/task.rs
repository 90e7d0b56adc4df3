//! Shared: children by clone that share their parent's memory, the "threads" of this experiment.
#![allow(unsafe_code)] // clone

use std::ffi::{c_int, c_void};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr;

use syscost_harness::prelude::*;
use syscost_sys::raw::syscall3;

use crate::task::child::{Child, Stack, leave};

/// Stands for no descriptor: the child writes nothing.
const NOTHING: RawFd = -1;

/// The byte that a child writes.
static BYTE: u8 = b'.';

/// A child that shares memory, files and handlers with its parent, writes a byte to `to` if given,
/// and exits. Like any child it is waited for by waitpid. Its flags are not published.
///
/// # Safety
/// The stack belongs to the child alone until it has been waited for (or dropped, which kills it and waits).
#[inline(always)]
pub(super) unsafe fn clone(
    stack: &mut Stack,
    to: Option<BorrowedFd<'_>>,
) -> Result<Child, Failure> {
    const FLAGS: c_int =
        libc::CLONE_VM | libc::CLONE_FS | libc::CLONE_FILES | libc::CLONE_SIGHAND | libc::SIGCHLD;
    let fd = to.map_or(NOTHING, |fd| fd.as_raw_fd());
    let argument = ptr::without_provenance_mut::<c_void>(fd as isize as usize);
    // SAFETY: the stack belongs to the child alone, as the caller promises. The child has its parent's
    // thread-local storage and touches none of it: it makes raw system calls only.
    match unsafe { libc::clone(begin, stack.top(), FLAGS, argument) } {
        -1 => Err(Failure::last_os_error("clone with CLONE_VM")),
        child => Ok(Child::new(child)),
    }
}

extern "C" fn begin(argument: *mut c_void) -> c_int {
    let fd = argument.addr();
    if fd as isize as RawFd == NOTHING {
        leave(0);
    }
    // SAFETY: writes a static byte.
    let written = unsafe { syscall3(Sysno::WRITE, fd, (&raw const BYTE).addr(), 1) };
    leave(c_int::from(written as isize != 1))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use rustix::pipe::{PipeFlags, pipe_with};

    use super::*;

    #[test]
    fn a_child_writes_its_byte_and_is_waited_for() {
        let (reads, writes) = pipe_with(PipeFlags::CLOEXEC).unwrap();
        let mut stack = Stack::new();
        // SAFETY: each child is waited for before the next.
        let mut ended = |to| unsafe { clone(&mut stack, to) }.and_then(|child| child.ends_with(0));
        ended(None).unwrap();
        ended(Some(writes.as_fd())).unwrap();
        drop(writes);
        let mut bytes = [0; 4];
        assert_eq!(rustix::io::read(&reads, &mut bytes), Ok(1));
        assert_eq!(bytes[0], BYTE);
    }
}
