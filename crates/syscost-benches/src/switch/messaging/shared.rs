//! What senders, receivers and the measuring task share.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};

use rustix::io::Errno;
use rustix::thread::futex;
use syscost_harness::prelude::*;

/// Lies in memory shared by all of them.
#[derive(Default)]
pub(super) struct SharedState {
    /// Loops that senders were ordered to perform so far; [`OVER`] at the end. Senders sleep on it.
    ordered: AtomicU32,
    /// Receivers that have not received everything. The measuring task sleeps on it.
    waiting: AtomicU32,
    sent: AtomicU64,
    received: AtomicU64,
}

const OVER: u32 = u32::MAX;

impl SharedState {
    /// Lets every sender perform this many more loops, for this many receivers in total.
    pub(super) fn order(&self, loops: u32, receivers: u32) {
        self.waiting.store(receivers, Relaxed);
        self.ordered.fetch_add(loops, Release);
        wake(&self.ordered, u32::MAX >> 1);
    }

    /// Ends every sender.
    pub(super) fn end(&self) {
        self.ordered.store(OVER, Release);
        wake(&self.ordered, u32::MAX >> 1);
    }

    /// Sleeps until every receiver has received everything, or a task has failed.
    pub(super) fn wait_for_all(&self, stop: &Stop) -> Result<(), Failure> {
        loop {
            let waiting = self.waiting.load(Acquire);
            stop.check()?;
            if waiting == 0 {
                return Ok(());
            }
            let slept = sleep(&self.waiting, waiting);
            slept.map_err(|error| Failure::of("waiting for the receivers", error))?;
        }
    }

    /// The total number of loops ordered, once it differs from `done`; `None` at the end.
    pub(super) fn wait_for_order(&self, done: u32) -> Result<Option<u32>, Errno> {
        loop {
            match self.ordered.load(Acquire) {
                OVER => return Ok(None),
                ordered if ordered != done => return Ok(Some(ordered)),
                _ => sleep(&self.ordered, done)?,
            }
        }
    }

    /// The total number of loops ordered. A task that has a message sees the order it was sent by.
    pub(super) fn ordered(&self) -> u32 {
        self.ordered.load(Acquire)
    }

    /// Counts messages that a sender has sent.
    pub(super) fn count_sent(&self, messages: u64) {
        self.sent.fetch_add(messages, Relaxed);
    }

    /// Counts the messages of a receiver that has received everything.
    pub(super) fn count_received(&self, messages: u64) {
        self.received.fetch_add(messages, Relaxed);
        if self.waiting.fetch_sub(1, AcqRel) == 1 {
            wake(&self.waiting, 1);
        }
    }

    /// Wakes the measuring task so that it notices that a task has failed.
    pub(super) fn wake_waiters(&self) {
        // A different number, lest the measuring task falls asleep on the old one.
        self.waiting.store(OVER, Release);
        wake(&self.waiting, 1);
    }

    /// How many messages were sent and received so far.
    pub(super) fn messages(&self) -> (u64, u64) {
        (self.sent.load(Relaxed), self.received.load(Relaxed))
    }
}

fn wake(word: &AtomicU32, tasks: u32) {
    // It does not fail for a mapped address.
    let _ = futex::wake(word, futex::Flags::empty(), tasks);
}

fn sleep(word: &AtomicU32, value: u32) -> Result<(), Errno> {
    match futex::wait(word, futex::Flags::empty(), value, None) {
        Ok(()) | Err(Errno::AGAIN | Errno::INTR) => Ok(()),
        Err(error) => Err(error),
    }
}
