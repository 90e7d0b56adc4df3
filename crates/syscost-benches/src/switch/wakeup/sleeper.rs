//! The ways to end the sleep.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use rustix::io::Errno;
use rustix::thread::futex::{Flags, wait, wake};
use rustix::thread::{ClockId, clock_nanosleep_absolute};
use rustix::time::{Timespec, clock_gettime};
use syscost_harness::prelude::*;
use syscost_sys::clock::Clock;
use syscost_sys::counters::TaskStat;
use syscost_sys::partner::Partner;
use syscost_sys::process::{patience, set_timer_slack};

use crate::implied::{Implied, Shares};

/// How long a sleep is asked to last, in ns.
const INTERVAL_NS: i64 = 100_000;

/// A task that sleeps, by what wakes it.
pub(super) enum Sleeper {
    Timer,
    Futex(Box<Waker>),
}

/// A process that wakes this one.
pub(super) struct Waker {
    line: Shared<Line>,
    clock: Clock,
    /// The latencies by both clocks.
    implied: Implied,
    /// Ends when this is dropped, or its parent ends.
    _process: Partner,
    stat: TaskStat,
}

/// What sleeper and waker share.
pub(super) struct Line {
    /// The futex: [`ASLEEP`], or [`awake`] since a time.
    word: AtomicU32,
    /// Time of the last wake, in ticks of the run's clock.
    woken: AtomicU64,
    /// The system's time right before it, in ns.
    woken_ns: AtomicU64,
}

/// Value of the futex while its task sleeps.
const ASLEEP: u32 = 0;

/// What ends a sleep, so that nobody is woken before the time is taken: a part of the time, in
/// ticks, that is not [`ASLEEP`].
fn awake(woken: u64) -> u32 {
    woken as u32 | 1
}

impl Sleeper {
    pub(super) fn timer() -> Self {
        Sleeper::Timer
    }

    pub(super) fn futex(cpus: &[u32], clock: Clock) -> Result<Self, Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::Failed(error.to_string());
        let line = Shared::new(Line::awake()).map_err(|error| failed(&error))?;
        let theirs = line.clone();
        let process = Partner::start(Between::Processes, cpus, move || theirs.wake_forever(clock))
            .map_err(|error| failed(&error))?;
        Ok(Sleeper::Futex(Box::new(Waker {
            line,
            clock,
            implied: Implied::default(),
            stat: TaskStat::of(process.task())?,
            _process: process,
        })))
    }

    /// Sleeps once; returns how late the task runs again, in ns.
    #[inline]
    pub(super) fn wake_up(&mut self) -> Result<f64, Failure> {
        match self {
            Sleeper::Timer => {
                // The clock that ends the sleep, so that no wake-up is early by another clock.
                let end = after(clock_gettime(ClockId::Monotonic), INTERVAL_NS);
                let slept = clock_nanosleep_absolute(ClockId::Monotonic, &end);
                let now = clock_gettime(ClockId::Monotonic);
                slept.tried("sleeping")?;
                Ok(since(now, end))
            }
            Sleeper::Futex(waker) => {
                let (ns, took) = waker.line.sleep(waker.clock)?;
                waker.implied.note_over(ns, took);
                Ok(ns)
            }
        }
    }

    /// How long it asks to sleep, in ns, if it decides that itself.
    pub(super) fn asked_ns(&self) -> Option<f64> {
        match self {
            Sleeper::Timer => Some(INTERVAL_NS as f64),
            Sleeper::Futex(_) => None,
        }
    }

    /// Claims that its latencies are those by the system's clock, where another process stamps them.
    pub(super) fn claim(&self, b: &mut Bencher) {
        if let Sleeper::Futex(waker) = self {
            waker.implied.claim(b, Shares::INNER);
        }
    }

    /// The waker's statistics, where there is one.
    pub(super) fn waker(&self) -> Option<&TaskStat> {
        match self {
            Sleeper::Timer => None,
            Sleeper::Futex(waker) => Some(&waker.stat),
        }
    }
}

impl Line {
    /// One on which nobody has slept yet.
    fn awake() -> Self {
        Self {
            word: AtomicU32::new(awake(0)),
            woken: AtomicU64::new(0),
            woken_ns: AtomicU64::new(0),
        }
    }

    /// The latency in ns, and how long the same took by the system's clock, read around it.
    fn sleep(&self, clock: Clock) -> Result<(f64, Duration), Failure> {
        let limit = Timespec::try_from(patience()).tried("wait that long")?;
        self.word.store(ASLEEP, Ordering::Release);
        let word = loop {
            match self.word.load(Ordering::Acquire) {
                ASLEEP => {}
                word => break word,
            }
            match wait(&self.word, Flags::empty(), ASLEEP, Some(&limit)) {
                // Woken before it slept, which shows in the missing switch.
                Ok(()) | Err(Errno::AGAIN | Errno::INTR) => {}
                Err(Errno::TIMEDOUT) => {
                    return Err(Failure::late("nobody woke it"));
                }
                Err(error) => return Err(Failure::of("waiting to be woken", error)),
            }
        };
        let now = clock.stop().ticks;
        let took_ns = monotonic_ns().saturating_sub(self.woken_ns.load(Ordering::Relaxed));
        let woken = self.woken.load(Ordering::Relaxed);
        if word != awake(woken) {
            return Err(Failure::Broken(
                "was woken at another time than it read".into(),
            ));
        }
        // The counters of two CPUs may disagree, which gives a negative difference.
        Ok((clock.between(woken, now), Duration::from_nanos(took_ns)))
    }

    /// The waker's work, which ends with its process.
    fn wake_forever(&self, clock: Clock) -> Result<(), String> {
        set_timer_slack(1).map_err(|error| error.to_string())?;
        loop {
            // Asleep, not spinning: on a machine with one CPU the other task has to run meanwhile.
            let end = after(clock_gettime(ClockId::Monotonic), INTERVAL_NS);
            clock_nanosleep_absolute(ClockId::Monotonic, &end)
                .map_err(|error| error.to_string())?;
            if self.word.load(Ordering::Acquire) == ASLEEP {
                self.woken_ns.store(monotonic_ns(), Ordering::Relaxed);
                let woken = clock.start();
                self.woken.store(woken, Ordering::Relaxed);
                self.word.store(awake(woken), Ordering::Release);
                wake(&self.word, Flags::empty(), 1).map_err(|error| error.to_string())?;
            }
        }
    }
}

/// The system's clock, in ns: that of all processes.
fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn after(time: Timespec, ns: i64) -> Timespec {
    let ns = time.tv_nsec + ns;
    Timespec {
        tv_sec: time.tv_sec + ns / 1_000_000_000,
        tv_nsec: ns % 1_000_000_000,
    }
}

fn since(time: Timespec, before: Timespec) -> f64 {
    1e9 * (time.tv_sec - before.tv_sec) as f64 + (time.tv_nsec - before.tv_nsec) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// Sleeps once, until woken at `woken` by one who reads the time `taken`.
    fn woken(taken: u64, woken: u64) -> Result<f64, Failure> {
        let line = Line::awake();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                line.woken.store(taken, Ordering::Relaxed);
                while !is_over.load(Ordering::Relaxed) {
                    line.word.store(awake(woken), Ordering::Release);
                    wake(&line.word, Flags::empty(), 1).unwrap();
                }
            });
            let late = line.sleep(Clock::system());
            is_over.store(true, Ordering::Relaxed);
            late.map(|(ns, _)| ns)
        })
    }

    #[test]
    fn a_time_that_is_not_taken_before_the_wake_up_is_a_defect() {
        assert!(woken(1_000, 1_000).unwrap() > 0.0);
        assert!(matches!(woken(1_000, 3_000), Err(Failure::Broken(_))));
    }
}
