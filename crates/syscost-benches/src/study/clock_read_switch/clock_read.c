//! One reading of gettimeofday, by the number of equal readings in a row, as the clock-read-switch
//! experiment took it.
//!
//! ## Measures
//! gettimeofday 100 000 times in a row through the C library, into an array; how many readings in a row are
//! equal, each time the clock advances by its microsecond; a microsecond divided by the most frequent such
//! number.
//! ## Does not measure
//! A reading alone: the loop and the store of the reading are in it. Anything between 1000 / n and 1000 /
//! (n + 1) ns.
//! ## Interpretation
//! Compare with `timing.clock_read{source=gettimeofday}`. The detail `equal_readings_count` is the
//! most frequent number.
//! ## Source
//! The clock-read-switch experiment, part 1 (docs/studies/clock-read-switch.md).
#include "readings.h"

#define LONGEST 10000

int main(void)
{
    static int times[LONGEST + 1]; /* how often each number of equal readings in a row was seen */
    int equal = 1, is_whole = 0, usual = 0, i;

    take_readings();
    for (i = 1; i < READINGS; i++) {
        if (readings[i] == readings[i - 1]) {
            equal++;
            continue;
        }
        /* Before the first step it is unknown how many equal readings were missed. */
        if (is_whole && equal <= LONGEST)
            times[equal]++;
        equal = is_whole = 1;
    }
    for (i = 1; i <= LONGEST; i++)
        if (times[i] > times[usual])
            usual = i;
    if (usual == 0) {
        fprintf(stderr, "gettimeofday stood still in %d readings\n", READINGS);
        return 1;
    }
    result(1.0 / usual, "us");
    fact("equal_readings", usual, "count");
    return 0;
}
