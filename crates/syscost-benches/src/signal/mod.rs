//! Signals: installing handlers, blocking signals, catching them.
//!
//! Signals: telling the kernel how to handle them, and having them delivered. A delivery saves the
//! whole state of the processor to the stack and restores it, so wide vector registers make it
//! dearer.
//!
//! ## First look
//! - `signal.catch{via=tgkill}`: a signal that a thread sends to itself, its handler, and the
//!   return.
//! - `signal.protection_fault`: the same of a write to a protected page, as garbage collectors use
//!   it.
//! - `signal.mask{op=block_unblock}`: what a critical section without signals costs.
//!
//! ## Benchmarks
//! `install` and `mask` change what is to happen; `catch` and `protection_fault` are deliveries to
//! a handler; `sigwait` takes a pending signal without one. A round trip of signals between two
//! tasks is `ipc.round_trip{via=signal}`.
//!
//! ## Disturbances
//! Mitigations of the kernel's entry, as for `syscall`. A tracer or debugger sees every signal,
//! and makes each many times as dear.

mod catch;
mod install;
mod mask;
pub(crate) mod own;
mod protection_fault;
mod sigwait;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = group! {
    signal: "signals",
    install,
    mask,
    catch,
    protection_fault,
    sigwait,
};
