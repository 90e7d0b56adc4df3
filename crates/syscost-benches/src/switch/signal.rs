//! Two tasks that wake each other by signals.
//!
//! ## Measures
//! A round trip: the measuring task sends its partner a signal (tgkill) and waits for one itself
//! (rt_sigtimedwait), asleep; the partner wakes, takes the signal and sends one back. Two switches,
//! two tgkill and two rt_sigtimedwait calls. The detail `switch_ns` is half of it.
//! ## Does not measure
//! Handlers: the signal is blocked and taken by the wait (`signal.catch`). Finding the receiver
//! among a process's threads: the thread is named.
//! ## Interpretation
//! To send a signal the kernel looks up the task, checks the permission, and allocates a record
//! that it frees again when the signal is taken; all under a lock that the threads of a process
//! share. For `cpus` and `between` see `switch.pipe`.
//! ## Source
//! sigwaitinfo(2), tgkill(2).
#![allow(unsafe_code)] // raw system calls

use std::ptr;
use std::sync::OnceLock;

use rustix::io::Errno;
use syscost_harness::prelude::*;
use syscost_sys::counters::TaskId;
use syscost_sys::raw::{syscall3, syscall4};

use super::ping_pong::{self, Mechanism, Side, Tasks, Wake};
use crate::signal::own::{Blocked, SET_BYTES, set_of};
use crate::syscall::{Bad, checked, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Context switch: signal ping-pong, round trip",
    tags: "context switch latency, wakeup latency, task switch, time per switch, tgkill, \
        sigtimedwait",
    revision: 3,
    expect: &[
        switches(2.0),
        together(Sysno::TGKILL, 2.0),
        together(Sysno::RT_SIGTIMEDWAIT, 2.0),
    ],
    ..Benchmark::by::<Tasks, Signals>()
};

/// Ignored unless waited for, so one that is left over after a failure does no harm.
const SIGNAL: libc::c_int = libc::SIGURG;

impl Mechanism for Signals {
    fn measure(tasks: Tasks, plan: Plan) -> Result<Outcome, Failure> {
        // Partners inherit it.
        let _restore = Blocked::one(SIGNAL)?;
        ping_pong::measure(plan, tasks, |_| {
            Ok(Signals {
                own: TaskId::own(),
                partner: OnceLock::new(),
            })
        })
    }
}

/// The tasks to signal.
struct Signals {
    own: TaskId,
    /// Known only to the measuring side, which alone needs it.
    partner: OnceLock<TaskId>,
}

impl Wake for Signals {
    type Error = Bad;

    fn meet(&self, partner: TaskId) {
        self.partner.get_or_init(|| partner);
    }

    fn wake(&self, side: Side) -> Result<(), Bad> {
        let task = match side {
            Side::Own => &self.own,
            Side::Partner => self.partner.get().ok_or(Errno::SRCH)?,
        };
        let (process, thread) = (task.process as usize, task.thread as usize);
        // SAFETY: the signal goes to a task of this team, which blocks it.
        checked(unsafe { syscall3(Sysno::TGKILL, process, thread, SIGNAL as usize) }).map(drop)
    }

    fn sleep(&self, _: Side) -> Result<(), Bad> {
        let set = set_of(SIGNAL);
        let (set_at, nothing) = (ptr::from_ref(&set).expose_provenance(), 0);
        loop {
            // SAFETY: the set outlives the call; no information is requested and no time is set.
            let taken = checked(unsafe {
                syscall4(Sysno::RT_SIGTIMEDWAIT, set_at, nothing, nothing, SET_BYTES)
            });
            match taken {
                Err(Bad::Refused(Errno::INTR)) => {}
                taken => return must(taken? == SIGNAL as usize),
            }
        }
    }
}
