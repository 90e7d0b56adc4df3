//! The ids, signal handlers and signal mask of this process. Handlers and mask are restored on drop.
#![allow(unsafe_code)] // the C library's signal interface

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use libc::{c_int, c_void, siginfo_t};
use syscost_harness::prelude::{Failure, Tried};
use syscost_sys::raw::{Sysno, syscall4};

use crate::syscall::checked;

/// Bytes of the kernel's signal set.
pub(crate) const SET_BYTES: usize = size_of::<u64>();

static PROCESS: AtomicI32 = AtomicI32::new(0);
static THREAD: AtomicI32 = AtomicI32::new(0);

/// The ids of this process and of the thread that measures, read from memory, so that a signal can
/// be sent to them without a call that queries them first.
///
/// Evidence is counted in a fork of this process, which must not signal its parent: there the ids
/// are the child's.
pub(super) struct Ids;

impl Ids {
    /// Reads the ids, and has them read again after every fork.
    pub(super) fn learn() -> Result<Self, Failure> {
        static FOLLOW_FORKS: OnceLock<i32> = OnceLock::new();
        learn_ids();
        let refused = FOLLOW_FORKS.get_or_init(|| {
            // SAFETY: the handler is sound in a forked child: it makes two calls and stores to atomics.
            unsafe { libc::pthread_atfork(None, None, Some(learn_ids)) }
        });
        match *refused {
            0 => Ok(Self),
            code => {
                let error = std::io::Error::from_raw_os_error(code);
                Err(Failure::of(
                    "register a handler for forks (pthread_atfork)",
                    error,
                ))
            }
        }
    }

    #[inline(always)]
    pub(super) fn process(&self) -> usize {
        PROCESS.load(Relaxed) as usize
    }

    /// The id of the thread that measures.
    #[inline(always)]
    pub(super) fn thread(&self) -> usize {
        THREAD.load(Relaxed) as usize
    }
}

extern "C" fn learn_ids() {
    PROCESS.store(rustix::process::getpid().as_raw_nonzero().get(), Relaxed);
    THREAD.store(rustix::thread::gettid().as_raw_nonzero().get(), Relaxed);
}

/// A signal handler with the sender's information.
pub(super) type HandlerFn = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

/// An action that makes the C library call this handler.
pub(super) fn action(handler: HandlerFn) -> libc::sigaction {
    // SAFETY: all zeros is a valid action: the default one, with an empty mask.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = (handler as *const ()).expose_provenance();
    action.sa_flags = libc::SA_SIGINFO;
    action
}

/// A handler, installed until dropped.
pub(super) struct Handler {
    signal: c_int,
    before: libc::sigaction,
}

impl Handler {
    /// Installs `handler`, which may do only what is sound whenever the signal arrives.
    pub(super) fn install(signal: c_int, handler: HandlerFn) -> Result<Self, Failure> {
        let mut before = action(handler);
        // SAFETY: both structures are valid; the handler is the caller's promise.
        match unsafe { libc::sigaction(signal, &action(handler), &mut before) } {
            0 => Ok(Self { signal, before }),
            _ => Err(Failure::last_os_error("install a signal handler")),
        }
    }
}

impl Drop for Handler {
    fn drop(&mut self) {
        // SAFETY: what was there before is valid.
        unsafe { libc::sigaction(self.signal, &self.before, ptr::null_mut()) };
    }
}

/// Signals blocked in this thread, until dropped.
pub(crate) struct Blocked {
    before: u64,
}

impl Blocked {
    /// Blocks one more signal.
    pub(crate) fn one(signal: c_int) -> Result<Self, Failure> {
        change_mask(libc::SIG_BLOCK, set_of(signal))
            .map(|before| Self { before })
            .tried("block a signal")
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // The mask was in force before, so it is valid.
        let _ = change_mask(libc::SIG_SETMASK, self.before);
    }
}

pub(crate) const fn set_of(signal: c_int) -> u64 {
    1 << (signal - 1)
}

/// One rt_sigprocmask call; returns the mask before it.
#[inline(always)]
pub(super) fn change_mask(how: c_int, set: u64) -> Result<u64, crate::syscall::Bad> {
    let mut before: u64 = 0;
    let (new, old) = (&raw const set, &raw mut before);
    // SAFETY: both sets have the size that is passed, and outlive the call.
    checked(unsafe {
        syscall4(
            Sysno::RT_SIGPROCMASK,
            how as usize,
            new.expose_provenance(),
            old.expose_provenance(),
            SET_BYTES,
        )
    })?;
    Ok(before)
}
