//! Calls of seven signatures, as the call-and-switch experiment timed them.
//!
//! ## Measures
//! A loop that calls a function which does nothing, less the same loop without the call, less two readings
//! of the timer, per call; the median of 21 such results, rounded to one decimal of a nanosecond. The loop
//! adds up its counter, so that it is not optimised away. How many turns it made is not published:
//! here 100 000.
//! ## Does not measure
//! A difference of less than a tenth of a nanosecond, a quarter to a half of a cycle: the rounding hides
//! it. The time of a single call: the core overlaps it with the loop.
//! ## Interpretation
//! Compare with `call.integer`, `call.double`, `call.struct_argument` and `call.struct_return`. Subtracting
//! the loop removes work that the core did at the same time as the call, so the difference is less than the
//! call: it may be anything down to zero. `empty_turn_ns` and `turn_with_call_ns` are the medians of what
//! is subtracted and of what it is subtracted from, `call_adds_ns` is their difference before it is
//! rounded.
//! ## Source
//! The call-and-switch experiment, part 1 (docs/studies/call-and-switch.md).
#include "runs.h"

#define RUNS 21
#define TURNS 100000

/* Passed and returned by value: too large for registers. Its size is not published. */
struct record {
    uint64_t words[8];
};

/* Functions that do nothing: their only statement has no instruction, but no compiler may remove it, nor a
 * call of them. */
#define NOTHING __asm__ volatile("")
#if defined(__clang__)
#define CALLEE static __attribute__((noinline))
#else
#define CALLEE static __attribute__((noipa))
#endif

CALLEE void none(void) { NOTHING; }
CALLEE void integer(int a) { (void)a; NOTHING; }
CALLEE void two_integers(int a, int b) { (void)a, (void)b; NOTHING; }
CALLEE void real(double a) { (void)a; NOTHING; }
CALLEE void eight_integers(int a, int b, int c, int d, int e, int f, int g, int h)
{
    (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
    NOTHING;
}
CALLEE void takes_record(struct record a) { (void)a; NOTHING; }
CALLEE struct record returns_record(void)
{
    struct record made = {{1, 2, 3, 4, 5, 6, 7, 8}};
    NOTHING;
    return made;
}

static struct record record = {{1, 1, 1, 1, 1, 1, 1, 1}};

int main(int argc, char **argv)
{
    const char *signature = argc > 1 ? argv[1] : "none";
    double results[RUNS], bases[RUNS], withs[RUNS], timer, base, with = 0;
    int run;

    timer = timer_ns(); /* which sorts, and the C library asks for the memory's size */
    begin();
    for (run = 0; run < RUNS; run++) {
        TIME(base, TURNS, );
        if (!strcmp(signature, "none"))
            TIME(with, TURNS, none());
        else if (!strcmp(signature, "int"))
            TIME(with, TURNS, integer(1));
        else if (!strcmp(signature, "int_int"))
            TIME(with, TURNS, two_integers(1, 2));
        else if (!strcmp(signature, "double"))
            TIME(with, TURNS, real(1.0));
        else if (!strcmp(signature, "int_x8"))
            TIME(with, TURNS, eight_integers(1, 2, 3, 4, 5, 6, 7, 8));
        else if (!strcmp(signature, "struct"))
            TIME(with, TURNS, takes_record(record));
        else if (!strcmp(signature, "returns_struct"))
            TIME(with, TURNS, returns_record());
        else
            unsupported("none, int, int_int, double, int_x8, struct or returns_struct");
        results[run] = (with - base - 2 * timer) / TURNS;
        bases[run] = base / TURNS;
        withs[run] = with / TURNS;
    }
    end();

    result(rounded(median(results, RUNS)), "ns");
    fact("empty_turn", median(bases, RUNS), "ns");
    fact("turn_with_call", median(withs, RUNS), "ns");
    fact("call_adds", median(withs, RUNS) - median(bases, RUNS), "ns");
    return 0;
}
