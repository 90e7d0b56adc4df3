//! Processes that read until they are stopped, and what they have read at the ends of a window.

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use rustix::io::Errno;
use rustix::thread::futex::{self, Flags, Timespec};
use syscost_harness::prelude::*;
use syscost_stats::order;
use syscost_sys::clock::Clock;
use syscost_sys::files::{self, Buffer};
use syscost_sys::process::pause;

use super::Windows;
use crate::fs::facts;
use crate::fs::space::{Stamped, Storage};

/// Bytes per read.
pub(super) const BLOCK: usize = 4 << 10;

/// Maximum number of processes: there is a slot for what each has read.
const MAX_PROCESSES: usize = 64;

/// A window is long enough for each process to read this many times, and for its rate to be that of
/// the window before, within this share: a device that is throttled may work in bursts, of
/// 100 ms and more.
const READS: f64 = 8.0;
const ALIKE: f64 = 0.2;
const FIRST_WINDOW: Duration = Duration::from_millis(4);
const MIN_WINDOW: Duration = Duration::from_millis(8);
const MAX_WINDOW: Duration = Duration::from_millis(512);

/// How often a process that waits at the barrier checks whether it has to stop.
const BARRIER_LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// How often the measuring task checks whether all have begun.
const LOOK: Duration = Duration::from_micros(200);

/// The memory that all processes share.
struct SharedState {
    /// 0 until all processes may begin.
    barrier: AtomicU32,
    counts: [ReadCount; MAX_PROCESSES],
}

impl SharedState {
    fn new() -> Self {
        Self {
            barrier: AtomicU32::new(0),
            counts: std::array::from_fn(|_| ReadCount::default()),
        }
    }
}

/// The number of reads of a process so far; on cache lines of its own.
#[repr(align(128))]
#[derive(Default)]
struct ReadCount {
    reads: AtomicU64,
}

/// The report of one process.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Account {
    pub(super) process: u32,
    pub(super) file: (u64, u64),
    /// Length of its file.
    pub(super) bytes: u64,
    /// Reads at or next to the place of the one before.
    pub(super) near: u64,
    /// When its first read began, and when its last one ended, in ticks.
    pub(super) began: u64,
    pub(super) ended: u64,
    pub(super) reads: u64,
    /// Bytes fetched from storage, where the kernel counts them.
    pub(super) fetched: Option<u64>,
    pub(super) is_direct: bool,
    /// Reads whose content was compared with what was written, and those of them that differed.
    pub(super) checked: u64,
    pub(super) wrong: u64,
    pub(super) latency: Latency,
}

/// The processes at work.
pub(super) struct Readers {
    workers: TaskGroup<Account>,
    shared: Shared<SharedState>,
    clock: Clock,
    count: usize,
    window: Duration,
    pub(super) windows: Windows,
}

impl Readers {
    /// Starts this many processes, each with the file of its number or the only one, releases them when all
    /// are ready, and returns when all are reading.
    pub(super) fn start(b: &mut Bencher, count: usize, files: &[Stamped]) -> Result<Self, Failure> {
        if count == 0 || count > MAX_PROCESSES {
            return Err(Failure::Broken(format!("has {count} processes")));
        }
        let shared = Shared::new(SharedState::new())?;
        let mut workers = TaskGroup::new(Between::Processes)?;
        let (clock, is_checked) = (*b.clock(), b.compares());
        for number in 0..count {
            let (shared, seed) = (shared.clone(), b.random().u64(..));
            let file = files[number % files.len()].clone();
            let prepare = move || Reader::new(file, seed, is_checked);
            let work = move |reader: &mut Reader, stop: &Stop| {
                wait_at(&shared.barrier, stop)?;
                reader.read_on(&shared.counts[number], stop, &clock)
            };
            workers.add(b.allowed(), prepare, work)?;
        }
        let mut readers = Self {
            workers,
            shared,
            clock,
            count,
            window: FIRST_WINDOW,
            windows: Windows::default(),
        };
        match readers.release().and_then(|()| readers.find_window()) {
            Ok(()) => Ok(readers),
            Err(failure) => Err(readers.explain(failure)),
        }
    }

    /// Doubles the window until it is long enough. None of these windows counts.
    fn find_window(&mut self) -> Result<(), Failure> {
        let wanted = READS * self.count as f64;
        let mut before = self.window()?;
        while self.window < MAX_WINDOW {
            self.window *= 2;
            let rate = self.window()?;
            let is_alike = (rate - before).abs() <= ALIKE * rate.max(before);
            if is_alike && rate * self.window.as_secs_f64() >= wanted && self.window >= MIN_WINDOW {
                break;
            }
            before = rate;
        }
        self.windows = Windows::default();
        Ok(())
    }

    /// Lets all processes begin, and waits until each has read something.
    fn release(&self) -> Result<(), Failure> {
        self.shared.barrier.store(1, Ordering::Release);
        futex::wake(&self.shared.barrier, Flags::empty(), u32::MAX >> 1).tried("futex wake")?;
        while self.reads().contains(&0) {
            self.check()?;
            pause(LOOK);
        }
        Ok(())
    }

    /// Returns an error if a process has failed, which stops all of them, or has disappeared.
    fn check(&self) -> Result<(), Failure> {
        self.workers.stop().check()?;
        match self.workers.has_lost_one() {
            true => Err(Failure::Failed("a reader ended early".into())),
            false => Ok(()),
        }
    }

    fn reads(&self) -> Vec<u64> {
        let counts = &self.shared.counts[..self.count];
        counts
            .iter()
            .map(|count| count.reads.load(Ordering::Relaxed))
            .collect()
    }

    /// Runs another window and returns the reads per second of all processes.
    pub(super) fn window(&mut self) -> Result<f64, Failure> {
        let (began, before) = (self.clock.start(), self.reads());
        pause(self.window);
        let (after, ended) = (self.reads(), self.clock.stop().ticks);
        self.check()?;
        let known = &mut self.windows;
        if known.reads.is_empty() {
            (known.began, known.reads) = (began, vec![0; self.count]);
        }
        known.ended = ended;
        let mut all = 0;
        for ((sum, after), before) in known.reads.iter_mut().zip(after).zip(before) {
            *sum += after - before;
            all += after - before;
        }
        Ok(all as f64 * 1e9 / self.clock.to_ns(ended - began))
    }

    /// The failure that a process reports itself, or else this one.
    pub(super) fn explain(self, failure: Failure) -> Failure {
        self.dismiss().err().unwrap_or(failure)
    }

    /// Stops all processes, and returns their reports.
    pub(super) fn dismiss(self) -> Result<Vec<Account>, Failure> {
        self.workers.dismiss()
    }
}

/// Sleeps until the barrier is open or all processes have to stop.
fn wait_at(barrier: &AtomicU32, stop: &Stop) -> Result<(), Failure> {
    while barrier.load(Ordering::Acquire) == 0 && !stop.is_set() {
        match futex::wait(barrier, Flags::empty(), 0, Some(&BARRIER_LOOK)) {
            Ok(()) | Err(Errno::AGAIN | Errno::INTR | Errno::TIMEDOUT) => {}
            Err(cause) => return Err(Failure::of("futex wait", cause)),
        }
    }
    Ok(())
}

/// A process that is ready to read.
struct Reader {
    written: Stamped,
    file: File,
    buffer: Buffer,
    random: fastrand::Rng,
    is_checked: Compares,
}

impl Reader {
    fn new(written: Stamped, seed: u64, is_checked: Compares) -> Result<Self, Failure> {
        let file = written.open_direct()?;
        let memory = files::direct_alignment(&file)?.map_or(BLOCK, |alignment| alignment.memory);
        Ok(Self {
            file,
            buffer: Buffer::new(BLOCK, memory.max(BLOCK)),
            random: fastrand::Rng::with_seed(seed),
            is_checked,
            written,
        })
    }

    /// Reads until it has to stop, and once more.
    fn read_on(
        &mut self,
        count: &ReadCount,
        stop: &Stop,
        clock: &Clock,
    ) -> Result<Account, Failure> {
        let blocks = self.written.bytes() / BLOCK as u64;
        let storage = Storage::watch(&self.file);
        let facts = facts(&self.file)?;
        let mut account = Account {
            process: std::process::id(),
            file: (facts.dev(), facts.ino()),
            bytes: facts.len(),
            began: clock.start(),
            is_direct: files::is_direct(&self.file)?,
            ..Account::default()
        };
        let mut last = None::<u64>;
        loop {
            // The last read ends after all were stopped, however long this process waited for a CPU.
            let is_last = stop.is_set();
            let offset = self.random.u64(..blocks) * BLOCK as u64;
            let began = clock.start();
            self.file
                .read_exact_at(&mut self.buffer, offset)
                .tried("read with O_DIRECT")?;
            account.ended = clock.stop().ticks;
            account.reads += 1;
            let is_near = |last: u64| last.abs_diff(offset) <= BLOCK as u64;
            account.near += u64::from(last.replace(offset).is_some_and(is_near));
            count.reads.store(account.reads, Ordering::Relaxed);
            let ticks = account.ended.saturating_sub(began);
            account.latency.record(clock.to_ns(ticks));
            if self.is_checked.all() {
                account.checked += 1;
                account.wrong += u64::from(self.written.check(&self.buffer, offset).is_err());
            }
            if is_last {
                break;
            }
        }
        account.fetched = storage.fetched();
        Ok(account)
    }
}

/// Bins per power of two, so that a bin is at most a fifth wide.
const BINS: usize = 4;

/// Number of powers of two, in ns: up to 2^40, twenty minutes.
const POWERS: usize = 40;

/// A histogram of times with four bins per power of two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Latency([u32; BINS * POWERS]);

impl Default for Latency {
    fn default() -> Self {
        Self([0; BINS * POWERS])
    }
}

impl Latency {
    pub(super) fn record(&mut self, ns: f64) {
        let bin = (BINS as f64 * ns.max(1.0).log2()) as usize;
        let bin = &mut self.0[bin.min(BINS * POWERS - 1)];
        *bin = bin.saturating_add(1);
    }

    pub(super) fn add(&mut self, other: &Latency) {
        for (bin, more) in self.0.iter_mut().zip(other.0) {
            *bin = bin.saturating_add(more);
        }
    }

    /// The time that this share of the reads did not exceed, in ns: the middle of its bin.
    pub(super) fn quantile(&self, share: f64) -> Option<f64> {
        let middle = |bin: usize| 2_f64.powf((bin as f64 + 0.5) / BINS as f64);
        let counts = self.0.iter().enumerate();
        let bins: Vec<(f64, u64)> = counts
            .map(|(bin, count)| (middle(bin), u64::from(*count)))
            .collect();
        order::nearest_rank_of_bins(&bins, share)
    }
}

#[cfg(test)]
mod tests {
    use syscost_sys::cpu;

    use super::*;

    /// A separate group of readers that do this instead; `None` where they cannot be started.
    fn readers(work: fn(&Stop) -> Result<Account, Failure>) -> Option<Readers> {
        let cpus = cpu::allowed().ok()?;
        let mut workers = TaskGroup::new(Between::Processes).ok()?;
        let work = move |(): &mut (), stop: &Stop| work(stop);
        workers.add(&cpus, || Ok::<_, Failure>(()), work).ok()?;
        Some(Readers {
            workers,
            shared: Shared::new(SharedState::new()).ok()?,
            clock: Clock::system(),
            count: 1,
            window: FIRST_WINDOW,
            windows: Windows::default(),
        })
    }

    #[test]
    fn the_error_of_a_reader_stands_as_its_own() {
        let refuse = |_: &Stop| Err(Failure::Refuted("other content".into()));
        let readers = or_skip!(readers(refuse).ok_or("no processes here"));
        let failure = readers.release().expect_err("it has failed");
        match readers.explain(failure) {
            Failure::Refuted(words) => assert!(words.contains("other content"), "{words}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_reader_that_was_killed_is_missed() {
        let die = |_: &Stop| -> Result<Account, Failure> {
            // As another program might kill it: nothing is reported, and no other process is stopped.
            let own = rustix::process::getpid();
            rustix::process::kill_process(own, rustix::process::Signal::KILL).tried("kill")?;
            unreachable!("it was killed")
        };
        let readers = or_skip!(readers(die).ok_or("no processes here"));
        let failure = readers.release().expect_err("it is gone");
        let words = readers.explain(failure).to_string();
        assert!(
            words.contains("signal 9") || words.contains("137"),
            "{words}"
        );
    }

    #[test]
    fn quantiles_are_near_the_times() {
        let mut latency = Latency::default();
        assert_eq!(latency.quantile(0.5), None);
        for number in 1..=1000 {
            latency.record(1000.0 * f64::from(number));
        }
        for (share, ns) in [(0.5, 5e5), (0.99, 9.9e5)] {
            let found = latency.quantile(share).unwrap();
            assert!((found / ns - 1.0).abs() < 0.1, "{found} for {ns}");
        }
        let mut twice = latency;
        twice.add(&latency);
        assert_eq!(twice.quantile(0.5), latency.quantile(0.5));
        latency.record(0.0);
        latency.record(f64::MAX);
    }
}
