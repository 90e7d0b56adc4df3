//! Calls of 0 to 5 arguments, as the three-costs experiment timed them.
//!
//! ## Measures
//! A pair of `rdtsc` around each single call, less the mean of pairs with nothing between them, 10 000
//! times; the mean, and of three such runs the mean. The program is compiled without optimisation, as the
//! text's was: the callees store their arguments to their frame, and the loop's counter is in memory. What
//! the callees do is not published: here nothing. The text announces up to six arguments; its tables end
//! with five.
//! ## Does not measure
//! A call: it takes a few cycles, and the core overlaps them with the pair of readings, which itself
//! varies by more (`empty_pair_p90_less_p10_ns`), in steps of several ticks (`pair_step_in_ticks_count`). The
//! remainder may be anything, zero or less included
//! (`zero_or_less_percent` of single calls).
//! ## Interpretation
//! Compare with `call.integer`, which times many calls together. The detail `typical_pair_less_empty_ns` is
//! by how much a typical pair with a call is longer than one without: where it is zero, the call
//! disappeared in the pair.
//! ## Source
//! The three-costs experiment, section 3.2 (docs/studies/three-costs.md).
#include "pairs.h"

static void none(void) {}
static void one(int a) { (void)a; }
static void two(int a, int b) { (void)a, (void)b; }
static void three(int a, int b, int c) { (void)a, (void)b, (void)c; }
static void four(int a, int b, int c, int d) { (void)a, (void)b, (void)c, (void)d; }
static void five(int a, int b, int c, int d, int e) { (void)a, (void)b, (void)c, (void)d, (void)e; }

int main(int argc, char **argv)
{
    int arguments = argc > 1 ? atoi(argv[1]) : 0;
    double overhead, mean = 0, sum = 0;
    int run;

    begin();
    overhead = pair_overhead();
    for (run = 0; run < RUNS; run++) {
        switch (arguments) {
        case 0: RUN(mean, ITERATIONS, overhead, none(), ); break;
        case 1: RUN(mean, ITERATIONS, overhead, one(1), ); break;
        case 2: RUN(mean, ITERATIONS, overhead, two(1, 2), ); break;
        case 3: RUN(mean, ITERATIONS, overhead, three(1, 2, 3), ); break;
        case 4: RUN(mean, ITERATIONS, overhead, four(1, 2, 3, 4), ); break;
        case 5: RUN(mean, ITERATIONS, overhead, five(1, 2, 3, 4, 5), ); break;
        default: unsupported("calls of 0 to 5 arguments");
        }
        sum += mean;
    }
    end();

    result(sum / RUNS, "ticks");
    say_spread(ITERATIONS, overhead);
    say_difference();
    return 0;
}
