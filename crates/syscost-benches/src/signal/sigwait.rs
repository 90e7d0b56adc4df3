//! Sending a blocked signal to the own process, and taking it without a handler.
//!
//! ## Measures
//! kill to this process with the signal blocked, and the rt_sigtimedwait that takes it immediately:
//! two system calls.
//! ## Does not measure
//! Sleeping until a signal comes (`ipc.round_trip{via=signal}`).
//! ## Interpretation
//! `signal.catch` without the frame, the handler and the return: the difference is the price of
//! interrupting a program.
//! ## Source
//! sigtimedwait(2); libMicro's signal calls.
#![allow(unsafe_code)] // raw system calls

use rustix::event::Timespec;
use syscost_harness::prelude::*;
use syscost_sys::raw::{syscall2, syscall4};

use super::own::{Blocked, Ids, SET_BYTES, set_of};
use crate::syscall::{Bad, checked, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Signal delivery, taken by sigwait",
    tags: "sigtimedwait, sigwaitinfo, synchronous signal",
    expect: &[calls(Sysno::KILL), calls(Sysno::RT_SIGTIMEDWAIT)],
    measure,
    ..Benchmark::DEFAULT
};

/// The signal that is sent and taken.
const SIGNAL: usize = libc::SIGUSR1 as usize;

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    let ids = Ids::learn()?;
    let _restore = Blocked::one(libc::SIGUSR1)?;
    let set = set_of(libc::SIGUSR1);
    // Never waits: the signal is pending, or the call fails.
    let no_wait = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let set_at = (&raw const set).expose_provenance();
    let no_wait_at = (&raw const no_wait).expose_provenance();
    plan.measure(Loop::each(|| -> Result<(), Bad> {
        // SAFETY: the signal goes only to this process, which blocks it.
        checked(unsafe { syscall2(Sysno::KILL, ids.process(), SIGNAL) })?;
        // SAFETY: the set and the time outlive the call; no information is requested.
        let taken =
            checked(unsafe { syscall4(Sysno::RT_SIGTIMEDWAIT, set_at, 0, no_wait_at, SET_BYTES) })?;
        must(taken == SIGNAL)
    }))
}
