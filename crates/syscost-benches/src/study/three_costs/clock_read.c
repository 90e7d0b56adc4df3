//! rdtsc twice in a row, as the three-costs experiment timed it: the overhead that it subtracts
//! from everything else.
//!
//! ## Measures
//! The difference of two readings with nothing between them, 10 000 times in a loop compiled without
//! optimisation, as the text's was; the mean, and of three such runs the mean. The reading is a bare
//! `rdtsc` in a function, which without optimisation is called.
//! ## Does not measure
//! The cost of a pair around an operation: the readings are ordered neither with each other nor with what is
//! between them, so a part of the operation overlaps with the pair, or the pair with the operation. The
//! details `single_p10_ns` to `single_p90_ns` show how much single pairs vary, `pair_step_ns` and
//! `pair_step_in_ticks_count` in what steps they do.
//! ## Interpretation
//! Compare with `timing.clock_step{source=tsc}`, the step from one reading to the next, without the call of
//! the function.
//! ## Source
//! The three-costs experiment, section 3.1 (docs/studies/three-costs.md).
#include "pairs.h"

int main(void)
{
    double overhead;

    begin();
    overhead = pair_overhead();
    end();

    result(overhead, "ticks");
    first = elapsed[0];
    say_spread(ITERATIONS, 0);
    say_steps();
    return 0;
}
