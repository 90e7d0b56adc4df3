//! Shared: threads that sleep on a futex until they are woken, and sleep again.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::thread::futex::{self, Flags};
use syscost_harness::prelude::*;
use syscost_sys::counters::TaskStat;
use syscost_sys::process::Batch;

use super::Padded;

/// Pause after the first look at a sleeper that is still awake; doubled for each further look.
const NAP: Duration = Duration::from_micros(20);

/// Maximum pause between two looks.
const LONGEST_NAP: Duration = Duration::from_millis(10);

/// Pause when they were asleep, but not on the futex.
const LONG_NAP: Duration = Duration::from_millis(1);

/// Iterations of an empty loop, some ten microseconds, during which the sleepers' CPU becomes idle
/// and the measuring one reaches its speed.
const SETTLE_TURNS: u32 = 40_000;

/// The words to sleep on: 0 while the threads should sleep, on the first word until they are moved
/// to the second.
#[derive(Default)]
pub(super) struct Bed(pub(super) [Padded<AtomicU32>; 2]);

impl Bed {
    /// Starts `count` threads that sleep on the first word whenever they are woken.
    pub(super) fn fill(self: &Arc<Self>, cpus: &[u32], count: u64) -> Result<TaskGroup, Failure> {
        let mut workers = TaskGroup::new(Between::Threads)?;
        for _ in 0..count {
            let bed = Arc::clone(self);
            let sleep = move |(): &mut (), stop: &Stop| bed.sleep(stop);
            workers.add(cpus, || Ok(()), sleep)?;
        }
        Ok(workers)
    }

    fn sleep(&self, stop: &Stop) -> Result<(), Failure> {
        // Preempts no other task, so that a waker on the same CPU continues.
        let _batch = Batch::enter()?;
        let word = &self.0[0].0;
        while !stop.is_set() {
            match futex::wait(word, Flags::PRIVATE, 0, None) {
                Ok(()) | Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(Failure::of("sleep", error)),
            }
        }
        Ok(())
    }

    /// Wakes all threads for good.
    pub(super) fn clear(&self) -> Result<(), Failure> {
        for word in &self.0 {
            word.0.store(1, Ordering::Release);
            futex::wake(&word.0, Flags::PRIVATE, i32::MAX.cast_unsigned())
                .tried("wake the sleepers")?;
        }
        Ok(())
    }
}

/// The calls of [`Watch::until_all_sleep`] beyond the first look at each: at most this many of each
/// kind per operation.
pub(super) const fn looks(most: f64) -> [Expect; 2] {
    [
        at_most(Counter::Syscall(Sysno::PREAD64), most),
        at_most(Counter::Syscall(Sysno::CLOCK_NANOSLEEP), most),
    ]
}

/// Checks whether all threads sleep.
pub(super) struct Watch {
    bed: Arc<Bed>,
    stats: Vec<TaskStat>,
}

impl Watch {
    /// Watches the threads in the first word's queue.
    pub(super) fn over(bed: &Arc<Bed>, workers: &TaskGroup) -> Result<Self, Failure> {
        let stats = workers.tasks().map(TaskStat::of);
        Ok(Watch {
            bed: Arc::clone(bed),
            stats: stats.collect::<Result<_, _>>()?,
        })
    }

    /// Returns when all threads sleep and both CPUs have settled. Takes one futex call, seldom more.
    pub(super) fn until_all_sleep(&self) -> Result<(), Failure> {
        loop {
            for stat in &self.stats {
                let mut nap = NAP;
                while !stat.is_asleep()? {
                    thread::sleep(nap);
                    // However long it takes, the number of looks is small.
                    nap = (2 * nap).min(LONGEST_NAP);
                }
            }
            // Under an audit they sleep for other reasons, too.
            if self.queued()? == self.stats.len() {
                break;
            }
            thread::sleep(LONG_NAP);
        }
        for iteration in 0..SETTLE_TURNS {
            black_box(iteration);
        }
        Ok(())
    }

    /// The number of threads in the first word's queue: those that can be requeued from the word to itself.
    fn queued(&self) -> Result<usize, Failure> {
        let word = &self.bed.0[0].0;
        let most = i32::MAX.cast_unsigned();
        futex::cmp_requeue(word, Flags::PRIVATE, 0, most, word, 0)
            .tried("count the sleepers (FUTEX_CMP_REQUEUE)")
    }
}
