//! Entering the kernel and coming back.

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
