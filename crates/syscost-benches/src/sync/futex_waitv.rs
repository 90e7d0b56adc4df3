//! Trying to sleep on several futexes, one of which has already changed.
//!
//! ## Measures
//! One futex_waitv on 1, 8 or 128 words, of which the last does not have the expected value: the
//! kernel queues the thread on all words before it, removes it again, and returns EAGAIN.
//! ## Does not measure
//! Sleep and wake-up, which cost what they cost with one word (`switch.futex`).
//! ## Interpretation
//! The excess of 128 words over 8, divided by 120, is the cost of queueing on one word and leaving its queue.
//! ## Source
//! The kernel's own test of futex_waitv makes the same call; it was added in Linux 5.16.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rustix::io::Errno;
use rustix::thread::ClockId;
use rustix::thread::futex::{Wait, WaitFlags, WaitPtr, WaitvFlags, waitv};
use syscost_harness::prelude::*;

use super::Padded;
use crate::syscall::Bad;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Futex wait on several words (futex_waitv)",
    tags: "wait for multiple objects",
    expect: &[calls(Sysno::FUTEX_WAITV)],
    ..Benchmark::of::<FutexWaitv>()
};

const WORDS: Argument = Argument::at(1, "number of words");

#[derive(Params, Clone)]
struct FutexWaitv {
    /// How many words the call waits for.
    words: usize,
}

impl Measured for FutexWaitv {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(FutexWaitv { words: [1, 8, 128] })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.words {
            8 => Profile::Full,
            ..8 | 9.. => Profile::Standard,
        }
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        match ask(&[]) {
            Err(Errno::NOSYS | Errno::PERM) => Err(Unsupported::new(
                "this kernel has no futex_waitv, or a seccomp filter, as of a container, hides it",
            )),
            _ => Ok(()),
        }
    }

    fn proofs(&self) -> FutexWaitvProofs<Proof> {
        FutexWaitvProofs {
            words: COMPARED.expects(self.words).and(Proof::argument(
                Sysno::FUTEX_WAITV,
                WORDS,
                ArgumentValue::Always(self.words as u64),
            )),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let mut words = Vec::new();
        words.resize_with(self.words, Padded::<AtomicU32>::default);
        let mut waits: Vec<Wait> = words.iter().map(|word| unchanged(&word.0)).collect();
        if let Some(last) = waits.last_mut() {
            last.val = 1;
        }
        plan.observe(&COMPARED, compared(&words, &waits));
        plan.measure(Loop::each(|| match ask(&waits) {
            Err(Errno::AGAIN) => Ok(()),
            Err(error) => Err(Bad::Refused(error)),
            Ok(_) => Err(Bad::Answer),
        }))
    }
}

static COMPARED: Witness = Witness::of("words up to the first that is not as expected", "memory");

/// How many words the kernel compares before it returns.
fn compared(words: &[Padded<AtomicU32>], waits: &[Wait]) -> usize {
    let differs =
        |(word, wait): (&Padded<AtomicU32>, &Wait)| word.0.load(Relaxed) as u64 != wait.val;
    let first = words.iter().zip(waits).position(differs);
    first.map_or(usize::MAX, |before| before + 1)
}

fn unchanged(word: &AtomicU32) -> Wait {
    let mut wait = Wait::new();
    wait.uaddr = WaitPtr::new(word.as_ptr().cast());
    wait.flags = WaitFlags::SIZE_U32 | WaitFlags::PRIVATE;
    wait
}

#[inline(always)]
fn ask(waits: &[Wait]) -> Result<usize, Errno> {
    waitv(waits, WaitvFlags::empty(), None, ClockId::Monotonic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_behind_the_first_that_differs_are_not_compared() {
        let words: Vec<Padded<AtomicU32>> = (0..4).map(|_| Padded::default()).collect();
        let with = |other: usize| {
            let mut waits: Vec<Wait> = words.iter().map(|word| unchanged(&word.0)).collect();
            waits[other].val = 1;
            compared(&words, &waits)
        };
        assert_eq!([with(3), with(0)], [4, 1]);
    }
}
