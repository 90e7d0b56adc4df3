//! Shared: the tail of the distribution of operations that wait for a device, for which rounds have too few
//! samples.

use std::time::{Duration, Instant};

use syscost_harness::prelude::*;

/// Maximum total time of these operations, as a multiple of the time for a round's samples of a case.
const TIME: f64 = 3.0;

/// Additional waits of an observation besides those for what is read: for pages that have to leave the page
/// cache, once a millisecond.
const FURTHER_WAITS: u64 = 256;

/// Expects that the task waits for a device when values are observed, at most this often each
/// time, so that giving up the CPU does not count as a disturbance.
pub(super) fn expect_waits(b: &mut Bencher, most: u64) {
    let most = (most + FURTHER_WAITS) as f64;
    b.expect(at_most(Counter::VoluntarySwitches, most));
}

/// Measures operations individually, each after an untimed preparation: samples, and then further ones
/// into the row's histogram.
pub(super) fn measure_each(
    b: &mut Bencher,
    mut prepare: impl FnMut() -> Result<(), Failure>,
    mut operate: impl FnMut() -> Result<(), Failure>,
) -> Result<(), Failure> {
    b.single(&mut prepare, &mut operate)?;
    if !b.is_timed() {
        return Ok(());
    }
    let (clock, timer_ns) = (*b.clock(), b.clock_cost().read_ns);
    let limit = Duration::from_nanos((TIME * b.case_ns()) as u64);
    let begun = Instant::now();
    // No operation is cut short by the limit, or those that take long would be missing.
    while begun.elapsed() < limit {
        prepare()?;
        let ns = clocked(&clock, &mut operate)?;
        b.record_single(ns - timer_ns);
    }
    Ok(())
}
