//! Threads that read memory, as fast as they can or with pauses.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use syscost_harness::prelude::*;
use syscost_sys::clock::Clock;
use syscost_sys::kernel::{Course, Stream};

use crate::memory::bandwidth::{PooledStream, enough_for_all, widest};

/// Bytes of all threads' memory together: more than a cache holds.
pub(super) const BYTES: usize = 512 << 20;

/// Bytes that a thread reads between two pauses.
const STRETCH: usize = 16 << 10;

/// Stretches that each thread reads beforehand without a pause, while the others do the same.
const TRIED: u64 = 64;

/// One thread's report, on cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct ThreadReport {
    bytes: AtomicU64,
    /// Bytes of stretches that began while something was timed.
    timed_bytes: AtomicU64,
    /// Ticks of [`TRIED`] stretches without a pause.
    tried_ticks: AtomicU64,
    /// Size of the memory that it reads, in bytes.
    memory_bytes: AtomicU64,
    /// The number of the first operation, the number of operations, and the sum of everything that was read.
    first: AtomicU64,
    operations: AtomicU64,
    sum: AtomicU64,
    /// Ticks of the shortest pause, once it has ended; none if it made none.
    shortest: OnceLock<u64>,
}

struct SharedState {
    /// Whether all threads have their memory.
    is_begun: AtomicBool,
    /// Whether something is being timed.
    is_timed: AtomicBool,
    reports: Vec<ThreadReport>,
}

/// The load: threads that read while something else is timed.
pub(super) struct Load {
    shared: Arc<SharedState>,
    stop: Shared<Stop>,
    clock: Clock,
    course: Course,
    /// How long the threads pause; `None` if they only wait.
    delay_ns: Option<u64>,
    /// Ticks of everything that was timed, and number of batches.
    ticks: u64,
    batches: u64,
}

/// What a thread read while something was timed, and what it could have read.
pub(super) struct Share {
    pub(super) bytes: f64,
    /// Maximum bytes that its pauses permit.
    pub(super) max_bytes: f64,
    /// Bytes that it would have read if stretches took as long as those tried beforehand.
    pub(super) usual_bytes: f64,
}

impl Load {
    /// Starts a thread on each of these CPUs that pauses this many ns after each stretch, or only waits;
    /// returns when all of them are at work.
    pub(super) fn start(
        cpus: &[u32],
        delay_ns: Option<u64>,
        clock: Clock,
        seed: u64,
    ) -> Result<(TaskGroup, Self), Failure> {
        let shared = Arc::new(SharedState {
            is_begun: AtomicBool::new(false),
            is_timed: AtomicBool::new(false),
            reports: cpus.iter().map(|_| ThreadReport::default()).collect(),
        });
        let course = Course::new(Stream::Read, BYTES / cpus.len().max(1), STRETCH);
        enough_for_all(course, cpus)?;
        let mut workers = TaskGroup::new(Between::Threads)?;
        for (number, cpu) in cpus.iter().enumerate() {
            let shared = Arc::clone(&shared);
            let work = move |memory: &mut PooledStream, stop: &Stop| {
                read(&shared, number, memory, stop, delay_ns, &clock, seed)
            };
            workers.add(&[*cpu], move || PooledStream::new(widest(), course), work)?;
        }
        shared.is_begun.store(true, Ordering::Release);
        let load = Self {
            shared,
            stop: workers.stop(),
            clock,
            course,
            delay_ns,
            ticks: 0,
            batches: 0,
        };
        Ok((workers, load))
    }

    /// Runs `body`, which is timed; the threads record what they read meanwhile.
    pub(super) fn during(
        &mut self,
        body: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.shared.is_timed.store(true, Ordering::Relaxed);
        let begun = self.clock.start();
        let done = body();
        let ticks = self.clock.stop().ticks - begun;
        self.shared.is_timed.store(false, Ordering::Relaxed);
        self.ticks += ticks;
        self.batches += 1;
        done
    }

    /// Waits until every thread has read something, so that each is on its CPU, unless it only waits.
    pub(super) fn await_all(&self) -> Result<(), Failure> {
        for report in self
            .shared
            .reports
            .iter()
            .filter(|_| self.delay_ns.is_some())
        {
            let before = report.bytes.load(Ordering::Relaxed);
            while report.bytes.load(Ordering::Relaxed) == before {
                self.stop.check()?;
                spin_loop();
            }
        }
        Ok(())
    }

    pub(super) fn shares(&self) -> Vec<Share> {
        let ns = self.clock.to_ns(self.ticks);
        let delay_ns = self.delay_ns.unwrap_or(0) as f64;
        let share = |report: &ThreadReport| {
            let tried_ns = self.clock.to_ns(report.tried_ticks.load(Ordering::Relaxed));
            let stretch_ns = tried_ns / TRIED as f64;
            // One more may begin in each batch, since pauses lie between them.
            let most = ns / delay_ns + self.batches as f64;
            Share {
                bytes: report.timed_bytes.load(Ordering::Relaxed) as f64,
                max_bytes: most * STRETCH as f64,
                usual_bytes: ns / (delay_ns + stretch_ns) * STRETCH as f64,
            }
        };
        self.shared.reports.iter().map(share).collect()
    }

    /// The shortest pause that any of them made, in ns, once all have ended; `None` if there was
    /// none.
    pub(super) fn shortest_pause_ns(&self) -> Option<f64> {
        let reports = self.shared.reports.iter();
        let shortest = reports.filter_map(|report| report.shortest.get()).min();
        shortest.map(|ticks| self.clock.to_ns(*ticks))
    }

    /// Bytes of the memory that all of them read, each its own part.
    pub(super) fn memory_bytes(&self) -> u64 {
        let bytes = |report: &ThreadReport| report.memory_bytes.load(Ordering::Relaxed);
        self.shared.reports.iter().map(bytes).sum()
    }

    /// The sum of everything that all of them read, and the sum expected for that many parts in order.
    pub(super) fn sums(&self) -> [u64; 2] {
        let of = |report: &ThreadReport| {
            let [first, operations, sum] = [&report.first, &report.operations, &report.sum]
                .map(|word| word.load(Ordering::Relaxed));
            [sum, self.course.sum(first, operations)]
        };
        let sums = self.shared.reports.iter().map(of);
        sums.fold([0; 2], |[a, b], [c, d]| {
            [a.wrapping_add(c), b.wrapping_add(d)]
        })
    }

    /// Bandwidth of all of them together, in bytes per second.
    pub(super) fn bytes_per_s(&self) -> f64 {
        let ns = self.clock.to_ns(self.ticks);
        let bytes: f64 = self.shares().iter().map(|share| share.bytes).sum();
        bytes * 1e9 / ns.max(1.0)
    }
}

fn read(
    shared: &SharedState,
    number: usize,
    memory: &PooledStream,
    stop: &Stop,
    delay_ns: Option<u64>,
    clock: &Clock,
    seed: u64,
) -> Result<(), Failure> {
    let report = &shared.reports[number];
    let ticks = |ns: u64| (ns as f64 * clock.ticks_per_ns()) as u64;
    // So that threads do not all pause at the same moment.
    let pause = |ticks: u64| {
        let begun = clock.start();
        loop {
            let passed = clock.start() - begun;
            if passed >= ticks {
                return passed;
            }
            spin_loop();
        }
    };
    let (footprint, bytes) = (memory.course().footprint() as u64, memory.course().bytes());
    report.memory_bytes.store(footprint, Ordering::Relaxed);
    report.first.store(memory.next(), Ordering::Relaxed);
    let go_on = || -> Result<(), Failure> {
        let sum = memory.summed().map_err(Failure::Failed)?;
        // Only this thread writes these counters.
        report.sum.fetch_add(sum, Ordering::Relaxed);
        report.operations.fetch_add(1, Ordering::Relaxed);
        Ok(())
    };
    while !shared.is_begun.load(Ordering::Acquire) {
        if stop.is_set() {
            return Ok(());
        }
        spin_loop();
    }
    if delay_ns.is_some() {
        let begun = clock.start();
        (0..TRIED).try_for_each(|_| go_on())?;
        let ticks = clock.stop().ticks - begun;
        report.tried_ticks.store(ticks, Ordering::Relaxed);
    }
    pause(ticks(delay_ns.unwrap_or(0)) * (seed.rotate_left(number as u32) % 64) / 64);
    let mut shortest = None;
    while !stop.is_set() {
        match delay_ns {
            Some(ns) => {
                let is_timed = shared.is_timed.load(Ordering::Relaxed);
                go_on()?;
                if is_timed {
                    report.timed_bytes.fetch_add(bytes, Ordering::Relaxed);
                }
                report.bytes.fetch_add(bytes, Ordering::Relaxed);
                let paused = pause(ticks(ns));
                shortest = Some(shortest.map_or(paused, |known: u64| known.min(paused)));
            }
            None => spin_loop(),
        }
    }
    if let Some(shortest) = shortest {
        report.shortest.get_or_init(|| shortest);
    }
    Ok(())
}
