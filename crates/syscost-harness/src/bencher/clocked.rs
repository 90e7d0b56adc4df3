//! How long one call takes.

use syscost_sys::clock::Clock;

use crate::failure::Failure;

/// Times one call of `body`, in ns, for benchmarks that observe their values themselves.
///
/// # Errors
/// Those of `body`; when the clock ran backwards.
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
