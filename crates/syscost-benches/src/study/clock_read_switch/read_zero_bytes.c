//! A read of 0 bytes, the minimum of many runs, as the clock-read-switch experiment took it.
//!
//! ## Measures
//! A number of reads of 0 bytes in a row between two readings of gettimeofday, per read; the minimum of many
//! repetitions. What was read is not published, nor how many repetitions there were: here it is /dev/zero,
//! and 1000, 100 and 10 repetitions of 100, 1000 and 10 000 reads.
//! ## Does not measure
//! A part of a microsecond: the clock does not show it, and the minimum of many results is one that the
//! clock's steps made shorter than it was. The detail
//! `clock_step_percent` is one such step in percent of what was timed.
//! ## Interpretation
//! Compare with `syscall.read_zero_bytes{of=zero}`.
//! ## Source
//! The clock-read-switch experiment, part 2 (docs/studies/clock-read-switch.md).
#include "readings.h"

#include <fcntl.h>

#define READS 100000 /* of a result, all repetitions together */

int main(int argc, char **argv)
{
    int in_a_row = argc > 1 ? atoi(argv[1]) : 1000;
    int zero = open("/dev/zero", O_RDONLY);
    double least = 0;
    char nothing[1];
    int repetition, i;

    if (zero < 0)
        failed("open /dev/zero");
    begin();
    for (repetition = 0; repetition < READS / in_a_row; repetition++) {
        int64_t begun = now_us(), took;
        for (i = 0; i < in_a_row; i++)
            if (read(zero, nothing, 0) != 0)
                failed("read 0 bytes");
        took = now_us() - begun;
        if (repetition == 0 || took < least)
            least = took;
    }
    end();

    result(least / in_a_row, "us");
    if (least > 0)
        fact("clock_step", 100.0 / least, "%");
    return 0;
}
