//! Software events of perf, and the count of system calls by the `raw_syscalls:sys_enter`
//! tracepoint, where the machine allows them. Counted for the calling thread only.
//!
//! Events that happen inside the kernel (switches, migrations, system calls) open without privilege
//! when the kernel is excluded, but then always read 0; such a counter is refused here rather
//! than trusted.

use std::fmt;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::counters::TaskId;
use crate::{SystemError, Unsupported, os};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// Switches of the thread, for whatever reason. Needs CAP_PERFMON or perf_event_paranoid of at
    /// most 1.
    ContextSwitches,
    /// Moves of the thread to another processor. Needs what `ContextSwitches` needs.
    CpuMigrations,
    /// Page faults served without reading from a device; without privilege those of user mode only.
    MinorFaults,
    /// Page faults that had to read; without privilege those of user mode only.
    MajorFaults,
    /// Minor and major page faults.
    PageFaults,
    /// System calls, by the tracepoint. Needs CAP_PERFMON or perf_event_paranoid of -1.
    Syscalls,
}

impl Event {
    /// All events.
    pub const ALL: [Event; 6] = [
        Event::ContextSwitches,
        Event::CpuMigrations,
        Event::MinorFaults,
        Event::MajorFaults,
        Event::PageFaults,
        Event::Syscalls,
    ];

    /// The name that `perf list` shows.
    pub const fn name(self) -> &'static str {
        match self {
            Event::ContextSwitches => "context-switches",
            Event::CpuMigrations => "cpu-migrations",
            Event::MinorFaults => "minor-faults",
            Event::MajorFaults => "major-faults",
            Event::PageFaults => "page-faults",
            Event::Syscalls => "raw_syscalls:sys_enter",
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A counter of one event of the thread that opened it. It does not count until enabled.
#[derive(Debug)]
pub struct Counter {
    event: Event,
    counter: os::PerfCounter,
    own_cost: u64,
}

impl Counter {
    /// Opens a counter for the calling thread.
    ///
    /// # Errors
    /// `Unsupported` naming perf_event_paranoid and the capability that is missing, the tracing
    /// file system that cannot be reached, or the target.
    pub fn open(event: Event) -> Result<Counter, Unsupported> {
        let mut counter = Counter {
            event,
            counter: os::PerfCounter::open(event)?,
            own_cost: 0,
        };
        // Disabling is a system call that the running counter still sees.
        counter.own_cost = (0..3).try_fold(u64::MAX, |least, _| {
            Ok::<_, SystemError>(least.min(counter.count(|| ())?))
        })?;
        Ok(counter)
    }

    /// The event that it counts.
    pub fn event(&self) -> Event {
        self.event
    }

    /// Counts while `op` runs, from 0 and without what enabling and disabling add themselves.
    ///
    /// # Errors
    /// When the system refuses to enable, disable or read the counter.
    pub fn count(&self, op: impl FnOnce()) -> Result<u64, SystemError> {
        self.reset()?;
        self.enable()?;
        op();
        self.disable()?;
        Ok(self.read()?.saturating_sub(self.own_cost))
    }

    /// Resumes counting.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn enable(&self) -> Result<(), SystemError> {
        self.counter.enable().map_err(|cause| {
            SystemError::new("ioctl(PERF_EVENT_IOC_ENABLE)", self.event.name(), cause)
        })
    }

    /// Stops counting. For [`Event::Syscalls`] this call itself is the last one counted; see
    /// [`Counter::own_cost`].
    ///
    /// # Errors
    /// When the system refuses.
    pub fn disable(&self) -> Result<(), SystemError> {
        self.counter.disable().map_err(|cause| {
            SystemError::new("ioctl(PERF_EVENT_IOC_DISABLE)", self.event.name(), cause)
        })
    }

    /// Sets it to 0.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn reset(&self) -> Result<(), SystemError> {
        self.counter.reset().map_err(|cause| {
            SystemError::new("ioctl(PERF_EVENT_IOC_RESET)", self.event.name(), cause)
        })
    }

    /// The count so far.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn read(&self) -> Result<u64, SystemError> {
        self.counter
            .read()
            .map_err(|cause| SystemError::new("read", self.event.name(), cause))
    }

    /// What one pair of [`Counter::enable`] and [`Counter::disable`] adds to [`Counter::read`]: 1
    /// for system calls, else 0.
    pub fn own_cost(&self) -> u64 {
        self.own_cost
    }
}

/// Which uses of a word or function are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uses {
    /// Stores to it.
    Stores,
    /// Loads from it and stores to it.
    All,
    /// Calls of the function that begins there.
    Calls,
}

/// How often a thread uses a word of its memory or calls a function, counted by one of the
/// processor's debug registers, of which there are four or so. Each use that is counted costs a
/// microsecond.
#[derive(Debug)]
pub struct Watch(os::PerfCounter);

impl Watch {
    /// Counts the thread's uses of the word, or calls of the function, from now on.
    ///
    /// # Errors
    /// `Unsupported` as [`Counter::open`], and where no debug register is free, or the registers do
    /// not work, as in some virtual machines.
    pub fn of(task: TaskId, word: *const u64, uses: Uses) -> Result<Watch, Unsupported> {
        if uses == Uses::Stores && !atomics_are_whole() {
            let reason = "an atomic operation made of several instructions never ends where a store is watched";
            return Err(Unsupported::new(reason));
        }
        if !Self::notices(uses)? {
            let reason = "the processor's debug registers do not notice what is used";
            return Err(Unsupported::new(reason));
        }
        Self::on(task, word, uses)
    }

    fn on(task: TaskId, word: *const u64, uses: Uses) -> Result<Watch, Unsupported> {
        os::PerfCounter::watch(task.thread, word.addr(), uses).map(Watch)
    }

    /// Whether debug registers work: one use is counted as one.
    fn notices(uses: Uses) -> Result<bool, Unsupported> {
        let word = AtomicU64::new(0);
        let place = match uses {
            Uses::Stores | Uses::All => word.as_ptr().cast_const(),
            Uses::Calls => called as *const u64,
        };
        let watch = Self::on(TaskId::own(), place, uses)?;
        match uses {
            Uses::Stores | Uses::All => black_box(&word).store(1, Relaxed),
            Uses::Calls => black_box(called as fn())(),
        }
        Ok(watch.count().is_ok_and(|count| count == 1))
    }

    /// The number of uses so far.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn count(&self) -> Result<u64, SystemError> {
        let uses = self.0.read();
        uses.map_err(|cause| SystemError::new("read", "a watched word", cause))
    }
}

/// Whether an atomic operation is a single instruction. Where it is a loop of an exclusive load and
/// store, the trap of a watched store makes the store fail each time.
fn atomics_are_whole() -> bool {
    #[cfg(target_arch = "aarch64")]
    return std::arch::is_aarch64_feature_detected!("lse");
    #[cfg(not(target_arch = "aarch64"))]
    return true;
}

/// The function that is called to test whether calls are noticed.
#[inline(never)]
fn called() {
    black_box(());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(unsafe_code)] // loads and stores that no compiler may leave out
    fn uses_of_a_watched_word_are_counted() {
        let words = [1_u64; 16];
        let at = |number: usize| std::ptr::from_ref(&words[number]);
        let watch = |uses| match Watch::of(TaskId::own(), at(8), uses) {
            Ok(watch) => Some(watch),
            Err(reason) => {
                println!("skipped: {reason}");
                None
            }
        };
        let (Some(all), Some(stores)) = (watch(Uses::All), watch(Uses::Stores)) else {
            return;
        };
        for number in [7, 8, 9, 8] {
            // SAFETY: a word of our own.
            std::hint::black_box(unsafe { at(number).read_volatile() });
        }
        assert_eq!((all.count().unwrap(), stores.count().unwrap()), (2, 0));
    }

    #[test]
    fn calls_of_a_watched_function_are_counted() {
        let watch = match Watch::of(TaskId::own(), called as *const u64, Uses::Calls) {
            Ok(watch) => watch,
            Err(reason) => return println!("skipped: {reason}"),
        };
        (0..3).for_each(|_| black_box(called as fn())());
        assert_eq!(watch.count().unwrap(), 3);
    }

    fn open(event: Event) -> Option<Counter> {
        match Counter::open(event) {
            Ok(counter) => Some(counter),
            Err(reason) => {
                println!("skipped: {event}: {reason}");
                None
            }
        }
    }

    #[test]
    #[allow(unsafe_code)] // the counted operation is a raw system call
    fn system_calls_are_counted_one_by_one() {
        let Some(counter) = open(Event::Syscalls) else {
            return;
        };
        // SAFETY: getppid takes nothing and touches no memory.
        let getppid = || unsafe { crate::raw::syscall0(crate::raw::Sysno::GETPPID) };
        let seen = counter
            .count(|| (0..1000).for_each(|_| assert!(getppid() > 0)))
            .unwrap();
        assert_eq!((seen, counter.own_cost()), (1000, 1));
        assert_eq!(counter.count(|| ()).unwrap(), 0);
    }

    #[test]
    fn sleeping_switches_and_moving_migrates() {
        if let Some(counter) = open(Event::ContextSwitches) {
            let nap = || std::thread::sleep(std::time::Duration::from_micros(200));
            assert!(counter.count(|| (0..5).for_each(|_| nap())).unwrap() >= 5);
        }
        let cpus = crate::cpu::allowed().unwrap_or_default();
        let [first, second, ..] = cpus[..] else {
            return;
        };
        std::thread::spawn(move || {
            let Some(counter) = open(Event::CpuMigrations) else {
                return;
            };
            crate::cpu::pin(first).unwrap();
            let moves = || {
                [second, first]
                    .into_iter()
                    .for_each(|cpu| crate::cpu::pin(cpu).unwrap())
            };
            assert_eq!(counter.count(moves).unwrap(), 2);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn touching_fresh_pages_faults() {
        let (Some(minor), Some(all), Some(_)) = (
            open(Event::MinorFaults),
            open(Event::PageFaults),
            open(Event::MajorFaults),
        ) else {
            return;
        };
        let touch = || {
            let mut fresh = vec![0_u8; 64 << 20];
            (0..fresh.len())
                .step_by(4096)
                .for_each(|page| fresh[page] = 1);
            std::hint::black_box(&fresh);
        };
        // 16384 small pages; a huge page covers 512 of them.
        assert!(minor.count(touch).unwrap() >= 32);
        assert!(all.count(touch).unwrap() >= 32);
    }
}
