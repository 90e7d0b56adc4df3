//! Times of individual operations, recorded by the task that makes them: every one of a batch, not
//! a few beside it.

use syscost_sys::clock::Clock;

use crate::failure::Failure;

/// The times of a batch's operations. A [`Driver`](super::Driver) that has them lets them begin
/// with its iterations, and notes each operation's end: one more reading of the clock per operation,
/// whose bound the row reports as its overhead.
#[derive(Debug)]
pub struct Laps {
    clock: Clock,
    /// When the last operation ended, in ticks.
    ended: u64,
    ticks: Vec<u64>,
    is_void: bool,
}

impl Laps {
    /// Operations of the longest batch: the value of
    /// [`Driver::MAX_ITERATIONS`](super::Driver::MAX_ITERATIONS) for a driver with laps.
    pub const MAX_ITERATIONS: u64 = 1 << 14;

    /// Laps timed by the bencher's clock.
    pub fn new(clock: Clock) -> Self {
        // Not zeros, so that every page is resident from now on.
        let mut ticks = vec![1; Self::MAX_ITERATIONS as usize];
        ticks.clear();
        Self {
            clock,
            ended: 0,
            ticks,
            is_void: false,
        }
    }

    /// Starts the first operation of a batch; earlier times are discarded.
    #[inline(always)]
    pub fn begin(&mut self) {
        self.ticks.clear();
        self.is_void = false;
        self.ended = self.clock.stop().ticks;
    }

    /// Records that an operation has ended and the next one begins.
    #[inline(always)]
    pub fn note(&mut self) {
        let now = self.clock.stop().ticks;
        // Batches that are only counted may be longer.
        if self.ticks.len() < Self::MAX_ITERATIONS as usize {
            self.ticks.push(now.wrapping_sub(self.ended));
        }
        self.ended = now;
    }

    /// Ends an operation that does not count, because its message was lost. The whole batch does
    /// not count and is repeated.
    pub fn void(&mut self) {
        self.is_void = true;
        self.ended = self.clock.stop().ticks;
    }

    /// Whether an operation of the batch does not count.
    pub(super) fn is_void(&self) -> bool {
        self.is_void
    }

    /// The time of each operation of a batch of this many, in ns.
    pub(super) fn of_batch(&self, iterations: u64) -> Result<Vec<f64>, Failure> {
        let noted = self.ticks.len();
        if noted as u64 != iterations {
            let what = format!("times {noted} of {iterations} operations singly");
            return Err(Failure::Broken(what));
        }
        // A reading earlier than the one before wraps to a time longer than any run.
        if self.ticks.iter().any(|ticks| *ticks > u64::MAX / 2) {
            return Err(Failure::Failed("the clock ran backwards".into()));
        }
        Ok(self
            .ticks
            .iter()
            .map(|ticks| self.clock.to_ns(*ticks))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syscost_sys::clock::mock;

    #[test]
    fn each_operation_of_the_batch_has_its_time() {
        let mut laps = Laps::new(Clock::mock());
        for batch in 0..2 {
            laps.begin();
            for ns in [100, 20, 3] {
                mock::advance_ns(ns + batch);
                laps.note();
            }
        }
        let took = laps.of_batch(3).unwrap();
        assert_eq!(took, [101.0, 21.0, 4.0], "of the last batch alone");
        let missing = laps.of_batch(4).unwrap_err();
        assert!(matches!(missing, Failure::Broken(_)), "{missing}");
    }

    #[test]
    fn a_batch_with_an_operation_that_does_not_count_is_void() {
        let mut laps = Laps::new(Clock::mock());
        laps.begin();
        laps.note();
        laps.void();
        assert!(laps.is_void());
        laps.begin();
        assert!(!laps.is_void(), "the next one is not");
    }

    #[test]
    fn longer_batches_are_made_though_not_all_of_their_operations_are_noted() {
        let mut laps = Laps::new(Clock::mock());
        laps.begin();
        (0..=Laps::MAX_ITERATIONS).for_each(|_| laps.note());
        assert!(laps.of_batch(Laps::MAX_ITERATIONS + 1).is_err());
    }
}
