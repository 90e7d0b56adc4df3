//! The largest step of gettimeofday in 100 000 readings, as the clock-read-switch experiment took it.
//!
//! ## Measures
//! gettimeofday 100 000 times in a row through the C library, into an array that was touched before; the
//! largest difference between two readings in a row. The histogram holds every step of all results.
//! ## Does not measure
//! The cost of a reading: the result grows with the time of observation, since it is the longest
//! time that something else took the CPU.
//! ## Interpretation
//! Compare with the detail `longest_step_ns` of `timing.clock_step{source=gettimeofday}`, and with
//! `timing.noise`.
//! ## Source
//! The clock-read-switch experiment, part 1 (docs/studies/clock-read-switch.md).
#include "readings.h"

int main(void)
{
    int64_t largest = 0;
    int i;

    take_readings();
    for (i = 1; i < READINGS; i++) {
        int64_t step = readings[i] - readings[i - 1];
        if (step > largest)
            largest = step;
        if (step != 0)
            single(step, "us");
    }
    result(largest, "us");
    return 0;
}
