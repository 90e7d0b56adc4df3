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

pub(crate) const GROUP: Group = Group {
    name: "switch",
    title: "switching between tasks",
    benchmarks: &[
        pipe::BENCHMARK,
        over_syscall::BENCHMARK,
        socketpair::BENCHMARK,
        eventfd::BENCHMARK,
        futex::BENCHMARK,
        semaphore::BENCHMARK,
        sysv_semaphore::BENCHMARK,
        condvar::BENCHMARK,
        signal::BENCHMARK,
        r#yield::BENCHMARK,
        wakeup::BENCHMARK,
        ring::BENCHMARK,
        messaging::BENCHMARK,
    ],
    hidden: false,
};
