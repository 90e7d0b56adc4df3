//! Shared: child processes that exit by themselves and are waited for.
//!
//! None of them asks the kernel for a signal at its parent's death, which would be part of the
//! result: each does nothing but exit, or execute a program that does, so that none can stay. They
//! exit by exit_group and run none of the parent's exit handlers.
#![allow(unsafe_code)] // fork and its like

use std::ffi::{c_int, c_void};
use std::os::fd::RawFd;
use std::ptr;

use syscost_harness::prelude::*;
use syscost_sys::raw::{syscall1, syscall2};

use super::command::Command;
use crate::syscall::checked;

/// A child that must be waited for. One that is dropped instead is killed.
#[must_use]
pub(crate) struct Child(libc::pid_t);

impl Child {
    /// A child of this process that is waited for only through this value.
    pub(crate) fn new(id: libc::pid_t) -> Self {
        Self(id)
    }

    pub(crate) fn id(&self) -> i32 {
        self.0
    }

    /// Waits for its end, which must be an exit with this status.
    pub(crate) fn ends_with(self, wanted: c_int) -> Result<(), Failure> {
        let mut status = 0;
        // SAFETY: `status` is one int, writable.
        let ended = unsafe { libc::waitpid(self.0, &raw mut status, 0) };
        if ended != self.0 {
            return Err(Failure::last_os_error("waiting for the child"));
        }
        std::mem::forget(self);
        if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == wanted {
            return Ok(());
        }
        Err(Failure::Failed(match libc::WIFEXITED(status) {
            true => format!(
                "the child left with status {}, not {wanted}",
                libc::WEXITSTATUS(status)
            ),
            false => format!("the child was ended by signal {}", libc::WTERMSIG(status)),
        }))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // SAFETY: the child has not been waited for, so its id is still its own.
        unsafe {
            libc::kill(self.0, libc::SIGKILL);
            libc::waitpid(self.0, ptr::null_mut(), 0);
        }
    }
}

/// Ends the calling process immediately.
pub(crate) fn leave(status: c_int) -> ! {
    loop {
        // SAFETY: ends the process.
        unsafe { syscall1(Sysno::EXIT_GROUP, status as usize) };
    }
}

/// In a child: does the work and exits, and never returns: a panic ends here.
fn work_and_leave(work: impl FnOnce() -> c_int) -> ! {
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            leave(101)
        }
    }
    let _end = End;
    leave(work())
}

/// Closes a descriptor in a child: its own copy, which it does not use again.
pub(crate) fn close(fd: RawFd) {
    // SAFETY: as the callers promise; the parent's descriptor stays open.
    unsafe { syscall1(Sysno::CLOSE, fd as usize) };
}

/// Forks a child that does `work`, which must not allocate, and exits with the status that it returns.
#[inline(always)]
pub(crate) fn fork(work: impl FnOnce() -> c_int) -> Result<Child, Failure> {
    // SAFETY: this process has one thread; the child continues in a copy of it and never returns from here.
    match unsafe { libc::fork() } {
        -1 => Err(Failure::last_os_error("fork")),
        0 => work_and_leave(work),
        child => Ok(Child(child)),
    }
}

/// Like [`fork`], but by clone3 itself, with these flags: only such as give the child its own memory.
#[inline(always)]
pub(crate) fn clone3(flags: u64, work: impl FnOnce() -> c_int) -> Result<Child, Failure> {
    // SAFETY: plain numbers, for which zero is a value.
    let mut wanted: libc::clone_args = unsafe { std::mem::zeroed() };
    wanted.flags = flags;
    wanted.exit_signal = libc::SIGCHLD as u64;
    let (address, size) = ((&raw const wanted).addr(), size_of_val(&wanted));
    debug_assert!(flags & libc::CLONE_VM as u64 == 0);
    // SAFETY: `wanted` has that size; as for fork.
    match checked(unsafe { syscall2(Sysno::CLONE3, address, size) }) {
        Ok(0) => work_and_leave(work),
        Ok(child) => Ok(Child(child as libc::pid_t)),
        Err(cause) => Err(Failure::of("clone3", cause)),
    }
}

/// Makes a child that shares this process's memory, as vfork does: returns once it has become the program or,
/// without one, exited.
#[inline(always)]
pub(crate) fn vfork(stack: &mut Stack, program: Option<&Command>) -> Result<Child, Failure> {
    extern "C" fn begin(program: *mut c_void) -> c_int {
        // SAFETY: what the parent gave, which waits meanwhile.
        leave(match unsafe { program.cast::<Command>().as_ref() } {
            Some(program) => program.execute(),
            None => 0,
        })
    }
    const FLAGS: c_int = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    let program = program.map_or(ptr::null(), ptr::from_ref);
    // SAFETY: the child has this stack for itself, and this process waits until it has left its memory.
    match unsafe { libc::clone(begin, stack.top(), FLAGS, program.cast_mut().cast()) } {
        -1 => Err(Failure::last_os_error("vfork")),
        child => Ok(Child(child)),
    }
}

/// Room for the stack of a child that shares its parent's memory.
pub(crate) struct Stack(Vec<u128>);

impl Stack {
    /// 64 KiB, all of it touched.
    pub(crate) fn new() -> Self {
        Self(vec![1; (64 << 10) / size_of::<u128>()])
    }

    /// The address where it begins: stacks grow downwards. Aligned to 16 bytes, as the ABIs require.
    pub(crate) fn top(&mut self) -> *mut c_void {
        self.0.as_mut_ptr_range().end.cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ending(child: Result<Child, Failure>) -> Result<(), String> {
        child
            .and_then(|child| child.ends_with(0))
            .map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_childs_status_and_signal_are_reported() {
        assert_eq!(ending(fork(|| 0)), Ok(()));
        let error = ending(fork(|| 7)).unwrap_err();
        assert!(error.contains("status 7"), "{error}");
        let killed = ending(fork(|| {
            // SAFETY: ends this child only.
            unsafe { libc::raise(libc::SIGKILL) }
        }));
        assert!(killed.unwrap_err().contains("signal 9"));
    }

    #[test]
    fn a_child_that_panics_does_not_come_back() {
        let ended = ending(fork(|| {
            // Without a message: this process has other threads, whose locks the child would wait for.
            std::panic::resume_unwind(Box::new(()))
        }));
        assert!(ended.unwrap_err().contains("status 101"));
    }

    #[test]
    fn a_child_that_is_dropped_is_killed_and_waited_for() {
        let child = fork(|| {
            loop {
                // SAFETY: sleeps until it is killed.
                unsafe { libc::pause() };
            }
        })
        .unwrap();
        let id = child.id();
        drop(child);
        // SAFETY: signal 0 only checks.
        assert_eq!(unsafe { libc::kill(id, 0) }, -1);
    }
}
