//! A task's own memory, and the work on it.

use std::ops::Range;

/// What each visit touches once: the cache line of most processors, half of some.
#[repr(align(64))]
struct Line([u64; 8]);

/// Memory that nobody else has.
pub(super) struct Memory(Vec<Line>);

impl Memory {
    /// So many KiB, written by the calling task and full of its number.
    pub(super) fn new(number: u64, kib: u64) -> Self {
        Memory((0..lines(kib)).map(|_| Line([number; 8])).collect())
    }

    /// Reads a word of each line and adds one to it; returns the sum of what was read.
    ///
    /// Not inlined: it is to be the same code wherever it is called.
    #[inline(never)]
    pub(super) fn visit(&mut self) -> u64 {
        let mut sum = 0;
        for line in &mut self.0 {
            sum += line.0[0];
            line.0[0] += 1;
        }
        sum
    }
}

/// The sum of what these tasks read together, each of which has visited its memory so often before.
pub(super) fn sum(numbers: Range<u64>, kib: u64, visits: u64) -> u64 {
    let tasks = numbers.end - numbers.start;
    lines(kib) * (numbers.sum::<u64>() + tasks * visits)
}

fn lines(kib: u64) -> u64 {
    kib * 1024 / size_of::<Line>() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_sum_up_to_what_they_must() {
        let mut memories = [Memory::new(0, 2), Memory::new(1, 2), Memory::new(2, 2)];
        for visits in 0..3 {
            let seen: u64 = memories.iter_mut().map(Memory::visit).sum();
            assert_eq!(seen, sum(0..3, 2, visits));
        }
        assert_eq!(Memory::new(7, 0).visit(), 0);
        assert_eq!(lines(16), 256);
    }
}
