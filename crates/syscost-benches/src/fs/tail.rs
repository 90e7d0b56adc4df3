//! Shared: the tail of a distribution of operations that wait for a device: rounds have too few
//! samples for it.

use std::time::{Duration, Instant};

use syscost_harness::prelude::*;

/// What they take together at most, as a multiple of what a round's samples of a case are to take.
const TIME: f64 = 3.0;

/// Times further operations one by one, each after an untimed preparation, into the row's histogram. To be called after the samples were taken.
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
    // Not one that the time limit would cut short: whether another follows does not depend on how long it takes.
    while begun.elapsed() < limit {
        prepare()?;
        let start = clock.start();
        let result = operate();
        let stop = clock.stop();
        result?;
        let ticks = stop.ticks.checked_sub(start).ok_or_else(|| {
            Failure::Failed(format!(
                "the clock ran backwards by {} ticks",
                start - stop.ticks
            ))
        })?;
        b.record_single(clock.to_ns(ticks) - timer_ns);
    }
    Ok(())
}
