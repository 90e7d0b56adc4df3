//! Switching between tasks.

mod condvar;
mod eventfd;
mod futex;
mod messaging;
mod over_syscall;
pub(crate) mod ping_pong;
pub(crate) mod pipe;
mod ring;
pub(crate) mod semaphore;
mod signal;
mod socketpair;
mod sysv_semaphore;
mod wakeup;
pub(crate) mod r#yield;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = group! {
    switch: "switching between tasks",
    pipe,
    over_syscall,
    socketpair,
    eventfd,
    futex,
    semaphore,
    sysv_semaphore,
    condvar,
    signal,
    r#yield,
    wakeup,
    ring,
    messaging,
};
