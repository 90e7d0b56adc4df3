//! How often gettimeofday advances by more than a microsecond from one reading to the next, as the
//! clock-read-switch experiment took it.
//!
//! ## Measures
//! gettimeofday 100 000 times in a row through the C library, into an array that was touched before; the
//! share of the readings that came more than one microsecond after the one before. The text counts steps of
//! many microseconds and states no limit: that it is one is our interpretation.
//! ## Does not measure
//! The cost of a reading: the time between two readings is what the machine did meanwhile. The details show
//! how often it switched to another task or served a page fault; interrupts and a hypervisor leave no such
//! trace. Most readings equal the one before: `steps_count` is how many do not, `long_of_steps_percent` which
//! part of those is longer than a microsecond.
//! ## Interpretation
//! `timing.clock_step{source=gettimeofday}` has the same share as a detail.
//! ## Source
//! The clock-read-switch experiment, part 1 (docs/studies/clock-read-switch.md).
#include "readings.h"

int main(void)
{
    int steps = 0, any = 0, i;

    take_readings();
    for (i = 1; i < READINGS; i++) {
        steps += readings[i] - readings[i - 1] > 1;
        any += readings[i] != readings[i - 1];
    }
    result(100.0 * steps / READINGS, "%");
    fact("steps", any, "count");
    if (any > 0)
        fact("long_of_steps", 100.0 * steps / any, "%");
    return 0;
}
