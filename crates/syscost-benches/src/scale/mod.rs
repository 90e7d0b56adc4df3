//! The same work on many CPUs simultaneously.
//!
//! The same work on more and more processors at once, as processes and as threads: what does the
//! kernel let them do side by side, and what do they share after all?
//!
//! ## First look
//! - `scale.syscall{as=processes}`: calls that share nothing; twice the copies should do twice as
//!   much.
//! - `scale.fault{as=threads}`: page faults of threads, which share an address space and its lock.
//! - `scale.open{of=same}`: opening one file from everywhere, which shares its reference count.
//! - `scale.law`: the share of the work that cannot be parallel, fitted to the rows of the others.
//!
//! ## Benchmarks
//! Each has a row for every number of copies, whose value is operations a second of all together.
//! Compare `as=processes` with `as=threads` for what an address space costs, and `of=same` with
//! `of=different`.
//!
//! ## Disturbances
//! Two hardware threads of a core are less than two cores, and frequencies fall as more cores
//! work: part of the loss is the processor's. Other programs take away whole processors: the
//! copies are measured where cores are free.

pub(crate) mod copies;
mod fault;
mod futex;
mod law;
mod open;
mod pipe;
mod syscall;
pub(crate) mod usl;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = group! {
    scale: "the same work on many CPUs at once",
    syscall,
    fault,
    futex,
    pipe,
    open,
    law,
};
