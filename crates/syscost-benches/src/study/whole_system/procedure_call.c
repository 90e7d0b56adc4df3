//! Calls with up to seven arguments, as the whole-system experiment timed them.
//!
//! ## Measures
//! A loop of 100 000 calls of a function that does nothing, between CPUID and RDTSC before and RDTSCP and
//! CPUID after, per call; the mean of 10 such trials. A trial had 1 000 000, as it has here in a study that
//! is run with `--thorough`. The program is compiled without optimisation, as the text's was: the loop's
//! counter is in memory, and the callee stores its arguments to its frame.
//! Whether the loop was subtracted is not published: here it is not.
//! ## Does not measure
//! The cost of a call in a program that is compiled with optimisation. The detail `with_call_ns` is the
//! time of a turn, `empty_loop_ns` that of a turn without a call, both from the shortest trials;
//! `loop_percent` is the second in percent of the first. Without a call a turn may take longer: it waits
//! for its counter in memory, and a call hides in that. Then what the call adds (`call_adds_ns`) is less
//! than nothing, and no share.
//! ## Interpretation
//! Compare with `call.integer`. Each argument adds a store, and the seventh one is passed on the stack.
//! ## Source
//! The whole-system experiment, CPU (docs/studies/whole-system.md).
#include "trials.h"

#define UNUSED(...) (void)sizeof((int[]){__VA_ARGS__})

static void none(void) {}
static void one(int a) { UNUSED(a); }
static void two(int a, int b) { UNUSED(a, b); }
static void three(int a, int b, int c) { UNUSED(a, b, c); }
static void four(int a, int b, int c, int d) { UNUSED(a, b, c, d); }
static void five(int a, int b, int c, int d, int e) { UNUSED(a, b, c, d, e); }
static void six(int a, int b, int c, int d, int e, int f) { UNUSED(a, b, c, d, e, f); }
static void seven(int a, int b, int c, int d, int e, int f, int g) { UNUSED(a, b, c, d, e, f, g); }

int main(int argc, char **argv)
{
    int arguments = argc > 1 ? atoi(argv[1]) : 0, calls = argc > 2 ? atoi(argv[2]) : MANY;
    double with, empty;

    begin();
    switch (arguments) {
    case 0: TEN_TRIALS_OF(calls, none()); break;
    case 1: TEN_TRIALS_OF(calls, one(1)); break;
    case 2: TEN_TRIALS_OF(calls, two(1, 2)); break;
    case 3: TEN_TRIALS_OF(calls, three(1, 2, 3)); break;
    case 4: TEN_TRIALS_OF(calls, four(1, 2, 3, 4)); break;
    case 5: TEN_TRIALS_OF(calls, five(1, 2, 3, 4, 5)); break;
    case 6: TEN_TRIALS_OF(calls, six(1, 2, 3, 4, 5, 6)); break;
    case 7: TEN_TRIALS_OF(calls, seven(1, 2, 3, 4, 5, 6, 7)); break;
    default: unsupported("calls of 0 to 7 arguments");
    }
    end();

    say_mean(TRIALS, "ticks");
    with = shortest();
    TEN_TRIALS_OF(calls, );
    empty = shortest();
    fact("with_call", with, "ticks");
    fact("empty_loop", empty, "ticks");
    fact("call_adds", with - empty, "ticks");
    fact("loop", 100 * empty / with, "%");
    return 0;
}
