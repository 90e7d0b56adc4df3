//! Shared: the tail of a distribution of operations that wait for a device: rounds have too few
//! samples for it.

use std::time::{Duration, Instant};

use syscost_harness::prelude::*;

/// What they take together at most, as a multiple of what a round's samples of a case are to take.
const TIME: f64 = 3.0;

/// Waits of an observation beside those for what is read: for pages that are to leave the page
/// cache, once a millisecond.
const FURTHER_WAITS: u64 = 256;

/// Expects of values that are observed that their task waits for a device, at most this often each
/// time: then it is no disturbance that it gave up the CPU.
pub(super) fn expect_waits(b: &mut Bencher, most: u64) {
    let most = (most + FURTHER_WAITS) as f64;
    b.expect(at_most(Counter::VoluntarySwitches, most));
}

/// Times further operations one by one, each after an untimed preparation, into the row's
/// histogram. To be called after the samples were taken.
pub(super) fn time_tail(
    b: &mut Bencher,
    mut prepare: impl FnMut() -> Result<(), Failure>,
    mut operate: impl FnMut() -> Result<(), Failure>,
) -> Result<(), Failure> {
    if !b.is_timed() {
        return Ok(());
    }
    let (clock, timer_ns) = (*b.clock(), b.clock_cost().read_ns);
    let limit = Duration::from_nanos((TIME * b.case_ns()) as u64);
    let begun = Instant::now();
    // No operation is cut short by the limit: those that take long would be missing.
    while begun.elapsed() < limit {
        prepare()?;
        let ns = clocked(&clock, &mut operate)?;
        b.record_single(ns - timer_ns);
    }
    Ok(())
}
