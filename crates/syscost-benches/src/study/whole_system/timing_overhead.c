//! Reading the time-stamp counter, as the whole-system experiment timed it.
//!
//! ## Measures
//! A loop of 100 000 readings by RDTSC, each stored, between CPUID and RDTSC before and RDTSCP and CPUID
//! after, per reading; the mean of 10 such trials. A trial had 1 000 000, as it has here in a study that is
//! run with `--thorough`. The program is compiled without optimisation, as the text's was: the counter and
//! the reading are in memory, and the reading is a call. What the published overhead refers to is not
//! stated; it is too little for a pair with CPUID.
//! ## Does not measure
//! The overhead of a measurement: the two CPUIDs that serialise it lie outside of the readings, and a reading
//! overlaps with others. The detail `cpuid_ns` is the time of one CPUID, `pair_ns` the difference
//! of a pair of readings with nothing between.
//! ## Interpretation
//! Compare with `timing.clock_read{source=tsc}`. In a virtual machine CPUID is executed by the hypervisor
//! and takes microseconds.
//! ## Source
//! The whole-system experiment, CPU (docs/studies/whole-system.md).
#include "trials.h"

#define PAIRS 201

static double pairs[PAIRS];

static int by_size(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* The median of pairs of readings, with a CPUID (and a reading) between or nothing, in ticks. */
static double pair(int has_cpuid)
{
    int i;
    for (i = 0; i < PAIRS; i++) {
        uint64_t begun = start();
        if (has_cpuid)
            start();
        pairs[i] = stop() - begun;
    }
    qsort(pairs, PAIRS, sizeof *pairs, by_size);
    return pairs[PAIRS / 2];
}

int main(int argc, char **argv)
{
    int readings = argc > 1 ? atoi(argv[1]) : MANY;
    volatile uint64_t reading;
    double alone;

    begin();
    TEN_TRIALS_OF(readings, reading = counter());
    end();

    (void)reading;
    say_mean(TRIALS, "ticks");
    alone = pair(0);
    fact("pair", alone, "ticks");
    fact("cpuid", pair(1) - alone, "ticks");
    return 0;
}
