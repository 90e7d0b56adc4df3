//! The steps of a clock.

use std::io;

/// Maximum number of steps of one observation.
const STEPS: usize = 4096;

/// Consecutive readings that differ.
pub(super) struct Steps {
    /// How far each differs from the one before, and how many readings in a row were equal to that.
    pub(super) seen: Vec<(i64, u32)>,
    last: u64,
}

impl Steps {
    /// Room for all steps, touched beforehand: a page fault between two readings would be seen as a gap.
    pub(super) fn new() -> Self {
        Self {
            seen: vec![(1, 1); STEPS],
            last: 0,
        }
    }

    /// Reads until there are [`STEPS`] steps, or the clock has advanced by `long_enough`.
    pub(super) fn take(
        &mut self,
        long_enough: i64,
        mut read: impl FnMut() -> io::Result<u64>,
    ) -> io::Result<()> {
        self.seen.clear();
        let first = read()?;
        self.last = first;
        while self.seen.len() < STEPS && self.last.wrapping_sub(first).cast_signed() < long_enough {
            let mut run = 1;
            let mut now = read()?;
            while now == self.last {
                run += 1;
                now = read()?;
            }
            self.seen
                .push((now.wrapping_sub(self.last).cast_signed(), run));
            self.last = now;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_and_runs_of_equal_readings_are_distinguished() {
        let mut readings = [10, 10, 13, 13, 13, 12, 20, 20].into_iter();
        let mut steps = Steps::new();
        steps
            .take(10, || {
                readings.next().ok_or(io::ErrorKind::UnexpectedEof.into())
            })
            .unwrap();
        assert_eq!(steps.seen, [(3, 2), (-1, 3), (8, 1)]);
        assert_eq!(steps.last, 20);
    }
}
