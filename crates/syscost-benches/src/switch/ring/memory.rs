//! A task's own memory, and the work on it.

use std::ops::Range;

use syscost_sys::Unsupported;
use syscost_sys::memory::{self, Pages};

/// What each visit touches once, in bytes: the cache line of most processors, half of some.
const LINE: usize = 64;

const WORDS: usize = LINE / size_of::<u64>();

/// Memory of one task; `None` if the size is 0.
pub(super) struct Memory(Option<memory::Memory>);

impl Memory {
    /// Reserves this many bytes, of which none is touched yet.
    pub(super) fn reserve(bytes: u64) -> Result<Self, Unsupported> {
        let reserve = || memory::Memory::reserve(bytes as usize, Pages::Small);
        Ok(Memory((bytes > 0).then(reserve).transpose()?))
    }

    /// This memory after the calling task has filled it with its number.
    pub(super) fn fill(mut self, number: u64) -> Self {
        self.words().fill(number);
        self
    }

    /// Reads a word of each line and adds one to it; returns the sum of what was read.
    ///
    /// Not inlined, so that it is the same code at every call.
    #[inline(never)]
    pub(super) fn visit(&mut self) -> u64 {
        let mut sum = 0;
        for line in self.words().chunks_exact_mut(WORDS) {
            sum += line[0];
            line[0] += 1;
        }
        sum
    }

    fn words(&mut self) -> &mut [u64] {
        self.0.as_mut().map_or(&mut [], memory::Memory::words)
    }
}

/// The sum that these tasks read together, after each has visited its memory `visits` times before.
pub(super) fn sum(numbers: Range<u64>, bytes: u64, visits: u64) -> u64 {
    let tasks = numbers.end - numbers.start;
    lines(bytes) * (numbers.sum::<u64>() + tasks * visits)
}

fn lines(bytes: u64) -> u64 {
    bytes / LINE as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_sum_up_to_what_they_must() {
        let memory = |number, bytes| Memory::reserve(bytes).map(|memory| memory.fill(number));
        let memories: Result<Vec<_>, _> = (0..3).map(|number| memory(number, 16 << 10)).collect();
        let Ok(mut memories) = memories else {
            println!("skipped: no memory of a known size here");
            return;
        };
        for visits in 0..3 {
            let seen: u64 = memories.iter_mut().map(Memory::visit).sum();
            assert_eq!(seen, sum(0..3, 16 << 10, visits));
        }
        assert_eq!(memory(7, 0).unwrap().visit(), 0);
        assert_eq!(lines(16 << 10), 256);
    }
}
