//! A turn of an empty loop, as the switch-costs experiment timed it.
//!
//! ## Measures
//! An empty loop of 100 000 000 turns, and of 100 000, by the CPU time of the process, per turn. The
//! program is compiled without optimisation, as the text's was. That the empty loop was timed by this clock
//! is our interpretation: the text names it for the loops from which this one is subtracted.
//! ## Does not measure
//! The cost of a loop around a call: the core works on both simultaneously.
//! ## Interpretation
//! Compare with `timing.loop{shape=memory}`.
//! ## Source
//! The switch-costs experiment, "For loop overhead" (docs/studies/switch-costs.md).
#include "loops.h"

int main(int argc, char **argv)
{
    long turns = argc > 1 ? atol(argv[1]) : 100000000;
    double ns;

    begin();
    CPU_TIME_OF(ns, turns, );
    end();

    result(ns, "ns");
    return 0;
}
