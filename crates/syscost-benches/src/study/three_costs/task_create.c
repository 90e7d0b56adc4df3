//! fork and clone, as the three-costs experiment timed them.
//!
//! ## Measures
//! A pair of `rdtsc` around each fork or clone in the parent; the child exits immediately, and is waited for
//! outside of the pair. The mean of a run, and of three runs the mean. Nothing is subtracted: the printed
//! means have the four decimals of 10 000 whole numbers. Published are 10 000 tasks a run; here 1000, for
//! time. The flags of clone are not published: here memory, files and handlers are shared.
//! ## Does not measure
//! The child's own part, unless the scheduler lets it run before the call has returned: that is then
//! included.
//! ## Interpretation
//! Compare with `task.fork{until=created}` and `task.clone_thread{until=created}`, which keep the child
//! from running within the call. The cost of a fork depends on how much memory the parent has.
//! ## Source
//! The three-costs experiment, section 3.3 (docs/studies/three-costs.md).
#include "tasks.h"

int main(int argc, char **argv)
{
    const char *via = argc > 1 ? argv[1] : "fork";
    struct rusage before, after;
    double sum = 0;
    int run;

    getrusage(RUSAGE_SELF, &before);
    begin();
    for (run = 0; run < RUNS; run++)
        sum += creation(!strcmp(via, "fork"));
    end();
    getrusage(RUSAGE_SELF, &after);

    result(sum / RUNS, "ticks");
    say_spread(TASKS, 0);
    fact("parent_preempted_per_task", (double)(after.ru_nivcsw - before.ru_nivcsw) / (RUNS * TASKS), "count");
    return 0;
}
