//! Switching between tasks.
//!
//! Switching between tasks that wait for each other. Two tasks pass a token back and forth, and a
//! round trip contains two switches and whatever carries the token: a pipe, a futex, a semaphore.
//!
//! ## First look
//! - `switch.pipe{between=processes,cpus=same}`: the classical round trip, two switches on one
//!   processor.
//! - `switch.over_syscall{between=processes}`: the same as a multiple of a system call.
//! - `switch.futex{between=threads}`: what hand-over between threads costs.
//! - `switch.wakeup{via=timer}`: from a timer's end until the task runs.
//!
//! ## Benchmarks
//! `pipe` to `condvar` differ in what carries the token (by event counters, signals and sockets it is
//! `ipc.round_trip`); `yield` has none. `ring` passes it around
//! many tasks with working sets of their own; `messaging` is many senders and receivers at once.
//! `cpus` says where the two tasks are: `same` measures switches, other values also the wake-up of
//! another processor, which costs several times as much.
//!
//! ## Disturbances
//! Idle states and, in a virtual machine, the interrupts between processors, which the hypervisor
//! handles: rows across processors are theirs more than the scheduler's. Anything else that is
//! runnable is switched to as well.

mod condvar;
mod futex;
mod messaging;
mod over_syscall;
pub(crate) mod ping_pong;
pub(crate) mod pipe;
mod ring;
pub(crate) mod semaphore;
mod sysv_semaphore;
mod wakeup;
pub(crate) mod r#yield;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = group! {
    switch: "switching between tasks",
    pipe,
    over_syscall,
    futex,
    semaphore,
    sysv_semaphore,
    condvar,
    r#yield,
    wakeup,
    ring,
    messaging,
};
