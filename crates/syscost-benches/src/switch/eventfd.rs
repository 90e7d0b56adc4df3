//! Two tasks that wake each other through event counters.
//!
//! ## Measures
//! A round trip: the measuring task adds one to its partner's event counter and reads its own,
//! asleep; the partner wakes, takes what was added and adds one to the other's. Two switches, two
//! writes and two reads of eight bytes. The detail `switch_ns` is half of it.
//! ## Does not measure
//! Waiting for several counters simultaneously, as event loops do (`syscall.epoll`).
//! ## Interpretation
//! `switch.pipe` without the pipe's buffer and its lock: the difference is what the bytes cost
//! there. For `cpus` and `between` see `switch.pipe`.
//! ## Source
//! eventfd(2).

use std::os::fd::OwnedFd;

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{Errno, read, retry_on_intr, write};
use syscost_harness::prelude::*;

use super::ping_pong::{self, Mechanism, Pair, Side, Tasks, Wake};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Context switch: eventfd ping-pong, round trip",
    tags: "context switch latency, wakeup latency, task switch, time per switch",
    revision: 3,
    expect: &[
        switches(2.0),
        together(Sysno::READ, 2.0),
        together(Sysno::WRITE, 2.0),
    ],
    ..Benchmark::by::<Tasks, Events>()
};

impl Mechanism for Events {
    fn measure(tasks: Tasks, plan: Plan) -> Result<Outcome, Failure> {
        ping_pong::measure(plan, tasks, |_| {
            Pair::make(|| eventfd(0, EventfdFlags::CLOEXEC))
                .map(Events)
                .tried("make an eventfd")
        })
    }
}

/// The counter that each side sleeps on.
struct Events(Pair<OwnedFd>);

impl Wake for Events {
    type Error = Errno;

    fn wake(&self, side: Side) -> Result<(), Errno> {
        write(self.0.of(side), &1_u64.to_ne_bytes()).map(drop)
    }

    fn sleep(&self, side: Side) -> Result<(), Errno> {
        let mut count = [0; 8];
        retry_on_intr(|| read(self.0.of(side), &mut count))?;
        match u64::from_ne_bytes(count) {
            1 => Ok(()),
            _ => Err(Errno::PROTO), // woken more than once, or never
        }
    }
}
