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

/// Times one call, in ns, minus the clock's own cost, the least of some readings, for what a process
/// does only once; with the call's result. It allocates nothing, and makes no system call unless the
/// clock does.
#[inline(always)]
pub fn clocked_once<T>(clock: &Clock, call: impl FnOnce() -> T) -> (f64, T) {
    let mut empty = u64::MAX;
    for _ in 0..8 {
        let start = clock.start();
        empty = empty.min(clock.stop().ticks.wrapping_sub(start));
    }
    let start = clock.start();
    let result = call();
    let spent = clock.stop().ticks.wrapping_sub(start);
    (clock.to_ns(spent) - clock.to_ns(empty), result)
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
