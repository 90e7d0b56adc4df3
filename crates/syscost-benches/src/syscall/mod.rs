//! Entering the kernel and coming back.
//!
//! What it costs to enter the kernel and come back, and what frequent calls do there. Each row
//! names the calls that one operation makes, and the kernel's own count is the proof.
//!
//! ## First look
//! - `syscall.null{call=getppid}`: a call that does nearly nothing, so the price of entry and
//!   exit.
//! - `syscall.over_call`: the same as a multiple of a function call.
//! - `syscall.vdso{call=clock_gettime,via=vdso}`: what a call costs that need not enter the
//!   kernel.
//! - `syscall.open_close{of=file}`: looking up a path, and a descriptor for it.
//!
//! ## Benchmarks
//! `null` to `cold` are about entry alone; `read_zero` and `write_null` add a descriptor and a
//! copy, `stat` to `open_close` a path, `dup` to `umask` small changes of the process. `poll`,
//! `select` and `epoll` wait for many descriptors; `io_uring_nop` is a call for a batch of
//! operations.
//!
//! ## Disturbances
//! Mitigations (page-table isolation, retpolines, untraining of predictors) may double these
//! numbers: the document lists them, and `compare` says which differ. Auditing, seccomp filters
//! and tracing add their own; the doctor looks for them.

mod access;
mod brk;
mod cold;
mod dup;
mod epoll;
mod fcntl;
mod fstat;
mod getcwd;
mod getrusage;
mod io_uring_nop;
mod kill_zero;
mod lseek;
pub(crate) mod null;
mod open_close;
mod over_call;
mod poll;
mod prctl;
mod read_zero;
mod read_zero_bytes;
mod select;
mod setuid;
mod stat;
pub(crate) mod subject;
mod umask;
mod vdso;
mod write_null;

use std::fmt;

use rustix::io::Errno;
use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = group! {
    syscall: "entering the kernel and coming back",
    null,
    over_call,
    vdso,
    cold,
    setuid,
    read_zero_bytes,
    read_zero,
    write_null,
    stat,
    fstat,
    access,
    open_close,
    dup,
    lseek,
    fcntl,
    getcwd,
    umask,
    kill_zero,
    prctl,
    getrusage,
    brk,
    poll,
    select,
    epoll,
    io_uring_nop,
};

/// Why a measured call was not correct.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bad {
    /// The kernel refused it.
    Refused(Errno),
    /// It returned something other than it must.
    Answer,
}

impl fmt::Display for Bad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bad::Refused(errno) => errno.fmt(f),
            Bad::Answer => f.write_str("the kernel's answer was not the one it must give"),
        }
    }
}

impl From<Errno> for Bad {
    fn from(errno: Errno) -> Self {
        Bad::Refused(errno)
    }
}

impl From<Bad> for Failure {
    fn from(bad: Bad) -> Self {
        Failure::Failed(bad.to_string())
    }
}

/// The result of a raw system call, or its error.
#[inline(always)]
pub(crate) fn checked(answer: isize) -> Result<usize, Bad> {
    if (-4095..0).contains(&answer) {
        Err(Bad::Refused(Errno::from_raw_os_error(-answer as i32)))
    } else {
        Ok(answer as usize)
    }
}

/// Succeeds if the result is the expected one.
#[inline(always)]
pub(crate) fn must(right: bool) -> Result<(), Bad> {
    if right { Ok(()) } else { Err(Bad::Answer) }
}
