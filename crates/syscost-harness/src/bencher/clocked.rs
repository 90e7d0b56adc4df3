//! Timing one call.

use syscost_sys::clock::Clock;

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
