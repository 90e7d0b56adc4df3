//! The threads that spin, and the pages that are changed under them.
#![allow(unsafe_code)] // pages that other threads read

use std::hint::{black_box, spin_loop};
use std::sync::Arc;
use std::sync::atomic::{
    AtomicPtr, AtomicU64, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use rustix::io::Errno;
use rustix::mm::{Advice, MprotectFlags};
use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::partner::Between;

use crate::memory::space::islands::Islands;
use crate::memory::space::{ADVICE, PROTECTION};
use crate::sides::Padded;

/// Maximum number of calls per batch, each on a separate page.
pub(super) const MAX_CALLS: u64 = 256;

/// Before a batch, threads that another program keeps from running are waited for: this many times,
/// each time for this many iterations of a waiting loop, a few microseconds.
const PATIENCE: usize = 10_000;
const SPINS: usize = 100;

/// The call that makes CPUs forget a page.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    Munmap,
    Mprotect,
    Madvise,
}

impl Call {
    pub(super) const fn number(self) -> Sysno {
        match self {
            Call::Munmap => Sysno::MUNMAP,
            Call::Mprotect => Sysno::MPROTECT,
            Call::Madvise => Sysno::MADVISE,
        }
    }

    /// The argument that it needs besides the place, and its value.
    pub(super) fn asks(self) -> Option<(Argument, u64)> {
        match self {
            Call::Munmap => None,
            Call::Mprotect => Some((PROTECTION, MprotectFlags::READ.bits().into())),
            Call::Madvise => Some((ADVICE, Advice::LinuxDontNeed as u64)),
        }
    }
}

/// CPUs for this many threads, the nearest to the measuring one first.
pub(super) fn others(own: u32, allowed: &[u32], count: usize) -> Result<Vec<u32>, Failure> {
    let mut cpus = spread_from(own, allowed).split_off(1);
    if cpus.len() < count {
        let reason = format!(
            "{count} threads need as many other CPUs; {} may be used",
            cpus.len()
        );
        return Err(Failure::Unsupported(reason));
    }
    cpus.truncate(count);
    Ok(cpus)
}

/// Number of batches, and in how many of them all threads ran.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) batches: u64,
    with_all: u64,
}

impl Tally {
    /// The share of batches in which all threads ran, or 0 if there was no batch.
    pub(super) fn share(&self) -> f64 {
        self.with_all as f64 / self.batches.max(1) as f64
    }
}

/// The memory that the threads share.
struct SharedState {
    /// Incremented when there are new pages to read.
    epoch: AtomicUsize,
    /// Address of the first page, and distance to the next, in bytes.
    first: AtomicPtr<u8>,
    stride: AtomicUsize,
    /// Number of threads that have read all pages of this epoch.
    ready: AtomicUsize,
    /// Number of iterations of each spinning thread.
    spins: Vec<Padded<AtomicU64>>,
}

impl SharedState {
    /// The work of each thread.
    fn spin(&self, number: usize, stop: &Stop) {
        let mut seen = 0;
        while !stop.is_set() {
            let epoch = self.epoch.load(Acquire);
            if epoch != seen {
                let (first, stride) = (self.first.load(Relaxed), self.stride.load(Relaxed));
                for page in 0..MAX_CALLS as usize {
                    // SAFETY: mapped and readable until all threads have reported that they are
                    // ready, after this.
                    black_box(unsafe { first.add(page * stride).read_volatile() });
                }
                seen = epoch;
                self.ready.fetch_add(1, AcqRel);
            }
            // Only this thread writes its counter.
            let spins = &self.spins[number].0;
            spins.store(spins.load(Relaxed) + 1, Relaxed);
            spin_loop();
        }
    }

    fn counts(&self) -> Vec<u64> {
        self.spins
            .iter()
            .map(|spins| spins.0.load(Relaxed))
            .collect()
    }
}

/// The measuring thread's side: the pages that the threads have read.
pub(super) struct Stage {
    call: Call,
    shared: Arc<SharedState>,
    islands: Islands,
    /// The threads' counters when the last batch began.
    began: Vec<u64>,
    tally: Tally,
}

impl Stage {
    /// Starts a thread on each of these CPUs.
    pub(super) fn start(call: Call, cpus: &[u32]) -> Result<(TaskGroup, Self), Failure> {
        let shared = Arc::new(SharedState {
            epoch: AtomicUsize::new(0),
            first: AtomicPtr::default(),
            stride: AtomicUsize::new(0),
            ready: AtomicUsize::new(0),
            spins: cpus.iter().map(|_| Padded::default()).collect(),
        });
        let stage = Self {
            islands: Islands::make(MAX_CALLS as usize, page_size())?,
            call,
            shared: Arc::clone(&shared),
            began: Vec::new(),
            tally: Tally::default(),
        };
        let mut workers = TaskGroup::new(Between::Threads)?;
        for (number, cpu) in cpus.iter().enumerate() {
            let shared = Arc::clone(&shared);
            let work = move |(): &mut (), stop: &Stop| {
                shared.spin(number, stop);
                Ok::<(), Failure>(())
            };
            workers.add(&[*cpu], || Ok(()), work)?;
        }
        Ok((workers, stage))
    }

    /// Batches and those in which all threads ran.
    pub(super) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// How many of the threads have run.
    pub(super) fn running(&self) -> usize {
        let counts = self.shared.counts();
        counts.iter().filter(|count| **count > 0).count()
    }

    /// How many pages are in the state that all calls together must leave.
    pub(super) fn changed(&self) -> Result<usize, Failure> {
        let count = MAX_CALLS as usize;
        match self.call {
            Call::Munmap | Call::Madvise => Ok(count - self.islands.present(count)?),
            Call::Mprotect => Ok(self.islands.bytes_with("r--", count)? / page_size()),
        }
    }

    fn have_run(&self) -> bool {
        let now = self.shared.counts();
        self.began.iter().zip(now).all(|(began, now)| now > *began)
    }
}

impl Driver for Stage {
    const MAX_ITERATIONS: u64 = MAX_CALLS;
    const IS_PREPARED: bool = true;

    /// Writes all pages, and returns when every thread has read them.
    fn prepare(&mut self) -> Result<(), Failure> {
        let failed = |cause: Errno| Failure::of("prepare the pages", cause);
        match self.call {
            Call::Munmap => self.islands = Islands::make(MAX_CALLS as usize, page_size())?,
            Call::Mprotect => {
                let access = MprotectFlags::READ | MprotectFlags::WRITE;
                (0..MAX_CALLS as usize)
                    .try_for_each(|number| self.islands.protect(number, access))
                    .map_err(failed)?;
            }
            Call::Madvise => {}
        }
        let present = self.islands.touch(MAX_CALLS as usize)?;
        if present != MAX_CALLS as usize {
            return Err(Failure::Refuted(format!(
                "only {present} of {MAX_CALLS} pages are there"
            )));
        }
        let stride = self.islands.island(1).addr() - self.islands.island(0).addr();
        self.shared.first.store(self.islands.island(0), Relaxed);
        self.shared.stride.store(stride, Relaxed);
        self.shared.ready.store(0, Relaxed);
        self.shared.epoch.fetch_add(1, Release);
        while self.shared.ready.load(Acquire) < self.shared.spins.len() {
            spin_loop();
        }
        for _ in 0..PATIENCE {
            self.began = self.shared.counts();
            (0..SPINS).for_each(|_| spin_loop());
            if self.have_run() {
                break;
            }
        }
        self.began = self.shared.counts();
        Ok(())
    }

    /// Makes this many calls.
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        let iterations = iterations as usize;
        let made = match self.call {
            Call::Munmap => self.islands.unmap(iterations),
            Call::Mprotect => (0..iterations)
                .try_for_each(|number| self.islands.protect(number, MprotectFlags::READ)),
            Call::Madvise => (0..iterations).try_for_each(|number| self.islands.forget(number)),
        };
        made.map_err(|cause| Failure::of(self.call.name(), cause))
    }

    /// Records whether all threads ran during the batch that has just ended.
    fn check(&mut self) -> Result<(), Failure> {
        self.tally.batches += 1;
        self.tally.with_all += u64::from(self.have_run());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::child::fork;

    #[test]
    fn every_call_changes_every_page() {
        // In a process with one thread, so that nothing else maps what munmap leaves.
        let child = fork(|| {
            let all_changed = Call::ALL.into_iter().all(|call| {
                let (_workers, mut stage) = Stage::start(call, &[]).unwrap();
                match stage.prepare() {
                    // Not enough memory, or no way to check.
                    Err(Failure::Unsupported(_)) => return true,
                    prepared => prepared.unwrap(),
                }
                assert_eq!(stage.changed().unwrap(), 0, "{call:?}");
                stage.run(MAX_CALLS).unwrap();
                stage.changed().unwrap() == MAX_CALLS as usize
            });
            i32::from(!all_changed)
        });
        child.and_then(|child| child.ends_with(0)).unwrap();
    }
}
