//! Counts by perf, where the machine allows them: of the calling thread's system calls, by the
//! `raw_syscalls:sys_enter` tracepoint, and of the uses of a word or function, by debug registers.

use std::hint::black_box;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::counters::TaskId;
use crate::{SystemError, Unsupported, os};

/// A counter of the system calls of the thread that opened it.
#[derive(Debug)]
pub struct SyscallCounter {
    counter: os::PerfCounter,
    own_cost: u64,
}

impl SyscallCounter {
    /// Opens a counter for the calling thread.
    ///
    /// # Errors
    /// `Unsupported` naming perf_event_paranoid and the capability that is missing, or the tracing
    /// file system that cannot be reached.
    pub fn open() -> Result<Self, Unsupported> {
        let mut counter = Self {
            counter: os::PerfCounter::of_syscalls()?,
            own_cost: 0,
        };
        // Disabling is a system call that the running counter still sees.
        counter.own_cost = (0..3).try_fold(u64::MAX, |least, _| {
            Ok::<_, SystemError>(least.min(counter.count(|| ())?))
        })?;
        Ok(counter)
    }

    /// Counts while `op` runs, without what enabling and disabling add themselves.
    ///
    /// # Errors
    /// When the system refuses to enable, disable or read the counter.
    pub fn count(&self, op: impl FnOnce()) -> Result<u64, SystemError> {
        let failed = |what: &'static str| {
            move |cause: io::Error| SystemError::new(what, "of system calls", cause)
        };
        self.counter.reset().map_err(failed("reset a counter"))?;
        self.counter.enable().map_err(failed("enable a counter"))?;
        op();
        self.counter
            .disable()
            .map_err(failed("disable a counter"))?;
        let count = self.counter.read().map_err(failed("read a counter"))?;
        Ok(count.saturating_sub(self.own_cost))
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
    /// `Unsupported` as [`SyscallCounter::open`], and where no debug register is free, or the registers do
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
        let watch = |uses| Watch::of(TaskId::own(), at(8), uses);
        let (all, stores) = (or_skip!(watch(Uses::All)), or_skip!(watch(Uses::Stores)));
        for number in [7, 8, 9, 8] {
            // SAFETY: a word of our own.
            std::hint::black_box(unsafe { at(number).read_volatile() });
        }
        assert_eq!((all.count().unwrap(), stores.count().unwrap()), (2, 0));
    }

    #[test]
    fn calls_of_a_watched_function_are_counted() {
        let watch = or_skip!(Watch::of(TaskId::own(), called as *const u64, Uses::Calls));
        (0..3).for_each(|_| black_box(called as fn())());
        assert_eq!(watch.count().unwrap(), 3);
    }

    #[test]
    #[allow(unsafe_code)] // the counted operation is a raw system call
    fn system_calls_are_counted_one_by_one() {
        let counter = or_skip!(SyscallCounter::open());
        // SAFETY: getppid takes nothing and touches no memory.
        let getppid = || unsafe { crate::raw::syscall0(crate::raw::Sysno::GETPPID) };
        let seen = counter
            .count(|| (0..1000).for_each(|_| assert!(getppid() > 0)))
            .unwrap();
        assert_eq!((seen, counter.own_cost), (1000, 1));
        assert_eq!(counter.count(|| ()).unwrap(), 0);
    }
}
