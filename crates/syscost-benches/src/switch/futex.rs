//! Two tasks that wake each other through words in memory.
//!
//! ## Measures
//! A round trip: the measuring task sets its partner's word and wakes its sleeper (FUTEX_WAKE),
//! then sleeps on its own word (FUTEX_WAIT) until the partner has done the same. Two switches and
//! four futex calls. Between threads the words are private to the process (FUTEX_PRIVATE_FLAG),
//! between processes they lie in shared memory. The detail `switch_ns` is half of it.
//! ## Does not measure
//! A wake without sleepers, and uncontended locks, which make no call (`sync`).
//! ## Interpretation
//! The least that the kernel requires to put one task to sleep and run another: all locks,
//! semaphores and condition variables of the C library sleep this way. A private word is found by
//! its address alone, a shared one by its page, which costs a little more. For `cpus` and `between`
//! see `switch.pipe`.
//! ## Source
//! futex(2); `perf bench futex`.

use std::sync::atomic::{AtomicU32, Ordering};

use rustix::io::Errno;
use rustix::thread::futex::{self, Flags};
use syscost_harness::prelude::*;

use super::ping_pong::{self, Mechanism, Pair, Side, Tasks, Wake, share};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Context switch: futex ping-pong, round trip",
    tags: "context switch latency, wakeup latency, task switch, time per switch, futex wait, \
        futex wake",
    revision: 3,
    expect: &[
        switches(2.0),
        // On another CPU a side may see its word and sleep again before the call that was to wake
        // it comes: that is then a spurious wake-up, and the side waits once more.
        within(Counter::Syscall(Sysno::FUTEX), 3.8, 6.3),
    ],
    ..Benchmark::by::<Tasks, Words>()
};

/// Values of a word: of a task that waits or may, and of one that has been woken.
const NOT_YET: u32 = 0;
const WOKEN: u32 = 1;

impl Mechanism for Words {
    /// For mechanisms other than the pipe the quick profile has at most one placement.
    fn profile(tasks: Tasks) -> Profile {
        match tasks.between {
            Between::Processes if tasks.cpus == Placement::SAME => Profile::Quick,
            Between::Processes | Between::Threads => tasks.usual_profile(),
        }
    }

    fn measure(tasks: Tasks, plan: Plan) -> Result<Outcome, Failure> {
        ping_pong::measure(plan, tasks, |between| {
            let words = Pair::make(|| Ok::<_, Failure>(AtomicU32::new(NOT_YET)))?;
            Ok(Words {
                words: share(words)?,
                flags: match between {
                    Between::Threads => Flags::PRIVATE,
                    Between::Processes => Flags::empty(),
                },
            })
        })
    }
}

/// The word that each side sleeps on.
struct Words {
    words: Shared<Pair<AtomicU32>>,
    flags: Flags,
}

impl Wake for Words {
    type Error = Errno;

    fn wake(&self, side: Side) -> Result<(), Errno> {
        let word = self.words.of(side);
        word.store(WOKEN, Ordering::Release);
        futex::wake(word, self.flags, 1).map(drop)
    }

    fn sleep(&self, side: Side) -> Result<(), Errno> {
        let word = self.words.of(side);
        loop {
            // Does not look at the word before: the kernel does, and the number of calls is the
            // same whichever side comes first.
            match futex::wait(word, self.flags, NOT_YET, None) {
                Ok(()) | Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error),
            }
            // Or was it a spurious wake-up?
            if word.swap(NOT_YET, Ordering::Acquire) == WOKEN {
                return Ok(());
            }
        }
    }
}
