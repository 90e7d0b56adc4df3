//! Two tasks that wake each other through System V semaphores.
//!
//! ## Measures
//! A round trip: the measuring task adds one to its partner's semaphore (semop) and takes one from
//! its own, asleep; the partner wakes and does the same. Two switches and four semop calls on one
//! set of two. The detail `switch_ns` is half of it.
//! ## Does not measure
//! Operations on several semaphores in one call, and undoing them at a task's end (SEM_UNDO).
//! ## Interpretation
//! Each operation is a call, even one that need not wait, and looks up the set by its number:
//! `switch.semaphore` is its successor. For `cpus` and `between` see `switch.pipe`.
//! ## Source
//! lmbench `lat_sem`.
#![allow(unsafe_code)] // raw system calls

use std::ptr;

use rustix::io::Errno;
use syscost_harness::prelude::*;
use syscost_sys::raw::syscall3;
use syscost_sys::scratch;

use super::ping_pong::{self, Mechanism, Side, Tasks, Wake};
use crate::syscall::{Bad, checked};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Context switch: SysV semaphore ping-pong, round trip",
    tags: "context switch latency, wakeup latency, task switch, time per switch, system v, semop, \
        lat_sem",
    revision: 3,
    expect: &[switches(2.0), together(Sysno::SEMOP, 4.0)],
    ..Benchmark::by::<Tasks, Set>()
};

impl Mechanism for Set {
    fn measure(tasks: Tasks, plan: Plan) -> Result<Outcome, Failure> {
        // Created once, so that recording it is not part of what is counted.
        let set = scratch::semaphores(2).map_err(Unsupported::from)?;
        ping_pong::measure(plan, tasks, |_| Set::afresh(set.id()))
    }
}

/// The number of a set with the semaphore that each side sleeps on.
struct Set(i32);

impl Set {
    /// Resets both to zero, whatever an earlier team left in them.
    fn afresh(id: i32) -> Result<Self, Failure> {
        let zeros = [0_u16; 2];
        // SAFETY: there are as many values as the set has semaphores.
        match unsafe { libc::semctl(id, 0, libc::SETALL, zeros.as_ptr()) } {
            0 => Ok(Self(id)),
            _ => Err(Failure::last_os_error("set the semaphores to zero")),
        }
    }

    /// Adds this many to a side's semaphore, or takes them once they are available.
    fn change(&self, side: Side, by: i16) -> Result<(), Bad> {
        let operation = libc::sembuf {
            sem_num: side as u16,
            sem_op: by,
            sem_flg: 0,
        };
        let at = ptr::from_ref(&operation).expose_provenance();
        loop {
            // SAFETY: one operation, which outlives the call.
            match checked(unsafe { syscall3(Sysno::SEMOP, self.0 as usize, at, 1) }) {
                Err(Bad::Refused(Errno::INTR)) => {}
                done => return done.map(drop),
            }
        }
    }
}

impl Wake for Set {
    type Error = Bad;

    fn wake(&self, side: Side) -> Result<(), Bad> {
        self.change(side, 1)
    }

    fn sleep(&self, side: Side) -> Result<(), Bad> {
        self.change(side, -1)
    }
}
