//! Timing one call.

use syscost_sys::clock::Clock;
use syscost_sys::kernel::Work;

use super::Bencher;
use crate::failure::Failure;

/// Times one call of `body`, in ns, for benchmarks that observe their values themselves.
///
/// # Errors
/// The error of `body`, or that the clock ran backwards.
#[inline(always)]
pub fn clocked(clock: &Clock, body: impl FnOnce() -> Result<(), Failure>) -> Result<f64, Failure> {
    let start = clock.start();
    let result = body();
    let stop = clock.stop();
    result?;
    match stop.ticks.checked_sub(start) {
        Some(ticks) => Ok(clock.to_ns(ticks)),
        None => Err(Failure::Failed(format!(
            "the clock ran backwards by {} ticks",
            start - stop.ticks
        ))),
    }
}

/// Times what a process does only once: a clock whose own cost is known before the call. It allocates
/// nothing, and makes no system call unless the clock does.
pub struct OnceTimer<'a> {
    clock: &'a Clock,
    /// What timing nothing reads, in ticks: the least of some readings.
    empty: u64,
}

impl<'a> OnceTimer<'a> {
    /// Of this clock.
    #[inline(always)]
    #[must_use]
    pub fn new(clock: &'a Clock) -> Self {
        let mut empty = u64::MAX;
        for _ in 0..8 {
            let start = clock.start();
            empty = empty.min(clock.stop().ticks.wrapping_sub(start));
        }
        Self { clock, empty }
    }

    /// Times one call, in ns, minus the clock's own cost; with the call's result.
    #[inline(always)]
    pub fn time<T>(&self, call: impl FnOnce() -> T) -> (f64, T) {
        let start = self.clock.start();
        let result = call();
        let spent = self.clock.stop().ticks.wrapping_sub(start);
        (
            self.clock.to_ns(spent) - self.clock.to_ns(self.empty),
            result,
        )
    }
}

impl Bencher<'_> {
    /// How long an operation of these instructions takes in one run of this many iterations, in ns.
    ///
    /// # Errors
    /// Their checksum is wrong, or the clock ran backwards.
    pub fn time_of(&self, work: &impl Work, iterations: u64) -> Result<f64, Failure> {
        let (expected, mut sum) = (work.expected(iterations), 0);
        let ns = clocked(self.clock(), || {
            sum = work.run(iterations);
            Ok(())
        })?;
        if sum != expected {
            let what = format!("the checksum is {sum:#x}, expected {expected:#x}");
            return Err(Failure::Refuted(what));
        }
        Ok(ns / (iterations * work.operations_per_iteration()) as f64)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_call_takes_as_long_as_it_sleeps() {
        let (clock, begun) = (Clock::system(), Instant::now());
        let pause = Duration::from_millis(5);
        let ns = clocked(&clock, || {
            std::thread::sleep(pause);
            Ok(())
        });
        let (ns, passed) = (ns.expect("it succeeds"), begun.elapsed());
        let possible = 0.99 * pause.as_nanos() as f64..=1.01 * passed.as_nanos() as f64;
        assert!(possible.contains(&ns), "{ns} ns of {passed:?}");
    }
}
