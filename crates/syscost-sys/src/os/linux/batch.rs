//! The scheduler's policy of the calling thread.
#![allow(unsafe_code)] // the call has no safe form, and musl's function only says that it is not implemented

use std::io;

use crate::raw::{Sysno, syscall1, syscall3};

pub(crate) const BATCH: i32 = libc::SCHED_BATCH;

pub(crate) fn policy() -> io::Result<i32> {
    // SAFETY: 0 is the calling thread; the call touches no memory.
    result(unsafe { syscall1(Sysno::SCHED_GETSCHEDULER, 0) })
}

/// One of the policies that need no priority.
pub(crate) fn set_policy(policy: i32) -> io::Result<()> {
    let priority = 0_i32;
    let address = (&raw const priority).expose_provenance();
    // SAFETY: 0 is the calling thread; sched_param is one int, which outlives the call.
    result(unsafe { syscall3(Sysno::SCHED_SETSCHEDULER, 0, policy as usize, address) }).map(drop)
}

fn result(value: isize) -> io::Result<i32> {
    match i32::try_from(value) {
        Ok(value @ 0..) => Ok(value),
        Ok(error) => Err(io::Error::from_raw_os_error(-error)),
        Err(_) => Err(io::ErrorKind::InvalidData.into()),
    }
}
