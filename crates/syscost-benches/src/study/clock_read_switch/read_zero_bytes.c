//! A read of 0 bytes, the minimum of many runs, as the clock-read-switch experiment took it.
//!
//! ## Measures
//! A number of reads of 0 bytes in a row between two readings of gettimeofday, per read; the minimum of many
//! repetitions. What was read is not published, nor how many repetitions there were: here it is /dev/zero,
//! and 1000, 100 and 10 repetitions of 100, 1000 and 10 000 reads.
//! ## Does not measure
//! A part of a microsecond: the clock does not show it, and the minimum of many results is one that the
//! clock's steps made shorter than it was. The detail
//! `clock_step_percent` is one such step in percent of what was timed, `median_repetition_ns` what the
//! minimum hides: a read in the median of the repetitions.
//! ## Interpretation
//! Compare with `syscall.read_zero_bytes{of=zero}`.
//! ## Source
//! The clock-read-switch experiment, part 2 (docs/studies/clock-read-switch.md).
#include "readings.h"

#include <fcntl.h>

#define READS 100000 /* of a result, all repetitions together */

static int by_size(const void *a, const void *b)
{
    int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

int main(int argc, char **argv)
{
    int in_a_row = argc > 1 ? atoi(argv[1]) : 1000;
    int zero = open("/dev/zero", O_RDONLY);
    int repetitions = READS / in_a_row, repetition, i;
    static int64_t took[READS];
    char nothing[1];

    if (zero < 0)
        failed("open /dev/zero");
    begin();
    for (repetition = 0; repetition < repetitions; repetition++) {
        int64_t begun = now_us();
        for (i = 0; i < in_a_row; i++)
            if (read(zero, nothing, 0) != 0)
                failed("read 0 bytes");
        took[repetition] = now_us() - begun;
    }
    end();

    qsort(took, repetitions, sizeof *took, by_size);
    result((double)took[0] / in_a_row, "us");
    fact("median_repetition", (took[(repetitions - 1) / 2] + took[repetitions / 2]) / (2.0 * in_a_row), "us");
    if (took[0] > 0)
        fact("clock_step", 100.0 / took[0], "%");
    return 0;
}
