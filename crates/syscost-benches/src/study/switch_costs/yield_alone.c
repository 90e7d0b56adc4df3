//! sched_yield without another task to yield to, which the switch-costs experiment subtracted from
//! its thread switches.
//!
//! ## Measures
//! sched_yield 20 000 times in a row by one task, by the CPU time of the process, per call (published are
//! 100 000 times). The text describes what it subtracts both as the CPU time of its threads and as
//! the overhead of sched_yield: this is the second interpretation.
//! ## Does not measure
//! A switch, unless something else wants this CPU.
//! ## Interpretation
//! Compare with `study.switch_costs.thread_switch{clock=cpu_time}`, and with the published 235 ns.
//! ## Source
//! The switch-costs experiment, "Cost of thread switching" (docs/studies/switch-costs.md).
#include "loops.h"

int main(int argc, char **argv)
{
    long yields = argc > 1 ? atol(argv[1]) : 20000;
    double ns, before = switches(RUSAGE_SELF);

    begin();
    CPU_TIME_OF(ns, yields, sched_yield());
    end();

    result(ns, "ns");
    fact("switches_per_yield", (switches(RUSAGE_SELF) - before) / yields, "count");
    return 0;
}
