//! Scheduling classes.
#![allow(unsafe_code)] // sched_setscheduler has no safe form, and musl does not implement it

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::process::Class;
use crate::raw::{Sysno, syscall1, syscall2, syscall3};

/// Policies of sched_setscheduler(2).
const SCHED_OTHER: i32 = 0;
const SCHED_FIFO: i32 = 1;
const SCHED_BATCH: i32 = 3;
/// A flag of the policy: forked children start in the normal class.
const SCHED_RESET_ON_FORK: i32 = 0x4000_0000;

pub(crate) fn class() -> io::Result<Class> {
    // SAFETY: 0 is the calling thread; the call touches no memory.
    let policy = checked(unsafe { syscall1(Sysno::SCHED_GETSCHEDULER, 0) })?;
    let mut priority = 0_i32;
    let address = (&raw mut priority).expose_provenance();
    // SAFETY: sched_param is one int, which outlives the call.
    checked(unsafe { syscall2(Sysno::SCHED_GETPARAM, 0, address) })?;
    Ok(match policy as i32 & !SCHED_RESET_ON_FORK {
        SCHED_OTHER => Class::Normal,
        SCHED_BATCH => Class::Batch,
        SCHED_FIFO => Class::Fifo(priority as u8),
        other => Class::Other(other),
    })
}

/// The calling thread's nice value, from -20 to 19.
pub(crate) fn niceness() -> io::Result<i32> {
    Ok(rustix::process::getpriority_process(None)?)
}

/// Sets the calling thread's class. Other policies cannot be set: they may need values that a class
/// does not hold.
pub(crate) fn set_class(class: Class) -> io::Result<()> {
    match class {
        Class::Fifo(priority) => set(SCHED_FIFO | SCHED_RESET_ON_FORK, priority.into()),
        // Without the privilege a thread may leave the class, but not clear the flag.
        Class::Normal => set(SCHED_OTHER, 0).or_else(|_| set(SCHED_OTHER | SCHED_RESET_ON_FORK, 0)),
        Class::Batch => set(SCHED_BATCH, 0),
        Class::Other(_) => Err(io::ErrorKind::InvalidInput.into()),
    }
}

fn set(policy: i32, priority: i32) -> io::Result<()> {
    let address = (&raw const priority).expose_provenance();
    // SAFETY: 0 is the calling thread; sched_param is one int, which outlives the call.
    checked(unsafe { syscall3(Sysno::SCHED_SETSCHEDULER, 0, policy as usize, address) })?;
    Ok(())
}

/// Sets how long a real-time thread may run without sleeping, in us, and returns the limit before;
/// `None` removes the limit as far as permitted.
pub(crate) fn limit_real_time(us: Option<u64>) -> io::Result<Option<u64>> {
    let before = getrlimit(Resource::Rttime);
    let lowest = [us, before.maximum].into_iter().flatten().min();
    setrlimit(
        Resource::Rttime,
        Rlimit {
            current: lowest,
            maximum: before.maximum,
        },
    )?;
    Ok(before.current)
}

fn checked(result: isize) -> io::Result<isize> {
    match result {
        0.. => Ok(result),
        error => Err(io::Error::from_raw_os_error(-error as i32)),
    }
}
