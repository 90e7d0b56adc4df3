//! A call of a function that does nothing, as the switch-costs experiment timed it.
//!
//! ## Measures
//! A loop with the call less the same loop without, by the CPU time of the process, per turn. The program
//! is compiled without optimisation, as the text's was. Published are 100 000 000 turns; here 10 000 000,
//! since a row must end in time.
//! ## Does not measure
//! A call alone: the loop waits for its counter in memory, and the core makes the call meanwhile. Where the
//! compiler put the counter changes how long each of both loops takes (`empty_turn_ns`,
//! `turn_with_call_ns`). The remainder once the empty loop is subtracted (`call_adds_ns`) may be less than
//! a call, or less than nothing.
//! ## Interpretation
//! Compare with `call.integer{arguments=0}`.
//! ## Source
//! The switch-costs experiment, "Cost of minimum function call" (docs/studies/switch-costs.md).
#include "loops.h"

static void nothing(void) {}

int main(int argc, char **argv)
{
    long turns = argc > 1 ? atol(argv[1]) : 10000000;
    double without, with;

    begin();
    CPU_TIME_OF(without, turns, );
    CPU_TIME_OF(with, turns, nothing());
    end();

    result(with - without, "ns");
    fact("empty_turn", without, "ns");
    fact("turn_with_call", with, "ns");
    fact("call_adds", with - without, "ns");
    return 0;
}
