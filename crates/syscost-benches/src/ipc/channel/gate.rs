//! A counter in shared memory that one task advances and another one waits for.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::Duration;

use rustix::io::Errno;
use rustix::thread::futex::{self, Flags};
use syscost_sys::raw::Sysno;

use crate::syscall::Bad;

/// Alone on two adjacent cache lines, which processors fetch together.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Gate {
    count: AtomicU32,
    asleep: AtomicBool,
    /// The futex word of sleepers: it changes whenever there may be something new.
    bell: AtomicU32,
    closed: AtomicBool,
}

/// The system call that waits and wakes make.
pub(super) const CALL: Sysno = Sysno::FUTEX;

impl Gate {
    #[inline(always)]
    pub(crate) fn get(&self) -> u32 {
        self.count.load(SeqCst)
    }

    /// Advances the count, and wakes a sleeper. Without sleepers it makes no system call.
    #[inline(always)]
    pub(crate) fn set(&self, count: u32) {
        self.move_to(count);
        self.wake();
    }

    /// Advances the count without waking sleepers.
    #[inline(always)]
    pub(super) fn move_to(&self, count: u32) {
        self.count.store(count, SeqCst);
    }

    #[inline(always)]
    pub(super) fn wake(&self) {
        if self.asleep.load(SeqCst) {
            self.ring();
        }
    }

    /// Advances the count for a task that spins.
    #[inline(always)]
    pub(super) fn move_for_spinner(&self, count: u32) {
        self.count.store(count, Release);
    }

    /// Lets all waiters, now or later, know that there is nothing left to wait for.
    pub(crate) fn close(&self) {
        self.closed.store(true, SeqCst);
        self.ring();
    }

    /// Sleeps until the count differs from `seen`.
    #[inline(always)]
    pub(super) fn past(&self, seen: u32) -> Result<u32, Bad> {
        match self.past_within(seen, None)? {
            Some(count) => Ok(count),
            None => Err(Bad::Answer), // Without a limit it never times out.
        }
    }

    /// Spins until the count differs from `seen`.
    #[inline(always)]
    pub(super) fn spin_past(&self, seen: u32) -> Result<u32, Bad> {
        loop {
            let count = self.count.load(Acquire);
            if count != seen {
                return Ok(count);
            }
            if self.closed.load(Relaxed) {
                return Err(Bad::Refused(Errno::PIPE));
            }
            std::hint::spin_loop();
        }
    }

    /// As [`Gate::past`]; returns `None` after this time.
    pub(crate) fn past_within(
        &self,
        seen: u32,
        limit: Option<Duration>,
    ) -> Result<Option<u32>, Bad> {
        let limit = limit.map(|limit| limit.try_into().expect("seconds fit"));
        loop {
            let heard = self.bell.load(SeqCst);
            let count = self.get();
            if count != seen {
                return Ok(Some(count));
            }
            if self.closed.load(SeqCst) {
                return Err(Bad::Refused(Errno::PIPE));
            }
            self.asleep.store(true, SeqCst);
            if self.get() != seen || self.closed.load(SeqCst) {
                self.asleep.store(false, SeqCst);
                continue;
            }
            match futex::wait(&self.bell, Flags::empty(), heard, limit.as_ref()) {
                Ok(()) | Err(Errno::AGAIN | Errno::INTR) => {}
                Err(Errno::TIMEDOUT) => return Ok(None),
                Err(errno) => return Err(Bad::Refused(errno)),
            }
        }
    }

    fn ring(&self) {
        self.asleep.store(false, SeqCst);
        self.bell.fetch_add(1, SeqCst);
        // It fails only for invalid addresses; this one is valid.
        let _ = futex::wake(&self.bell, Flags::empty(), 1);
    }
}
