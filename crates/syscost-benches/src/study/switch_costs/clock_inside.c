//! A call of a function that does nothing, with the clock read inside the loop, as the switch-costs experiment
//! timed it at first.
//!
//! ## Measures
//! A reading of the CPU time of the process before and behind each call, the differences added up, per call.
//! The program is compiled without optimisation, as the text's was. Published are 100 000 000 turns; here
//! 20 000, each of which enters the kernel twice.
//! ## Does not measure
//! A call: what a pair of readings takes by itself is hundreds of times as much, the detail `empty_pair_ns`.
//! ## Interpretation
//! Compare with `study.switch_costs.function_call`, whose readings are outside of the loop, and with
//! `timing.clock_read{source=process_cputime}`.
//! ## Source
//! The switch-costs experiment, "Cost of minimum function call" (docs/studies/switch-costs.md).
#include "loops.h"

static void nothing(void) {}

int main(int argc, char **argv)
{
    long turns = argc > 1 ? atol(argv[1]) : 20000, i;
    double ns = 0, empty = 0;

    begin();
    for (i = 0; i < turns; i++) {
        ns -= now(CLOCK_PROCESS_CPUTIME_ID);
        nothing();
        ns += now(CLOCK_PROCESS_CPUTIME_ID);
    }
    end();
    for (i = 0; i < turns; i++) {
        empty -= now(CLOCK_PROCESS_CPUTIME_ID);
        empty += now(CLOCK_PROCESS_CPUTIME_ID);
    }

    result(ns / turns, "ns");
    fact("empty_pair", empty / turns, "ns");
    return 0;
}
