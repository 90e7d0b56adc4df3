//! Switches between processes and threads, as the three-costs experiment timed them.
//!
//! ## Measures
//! A pair of `rdtsc` around: creating a child, waking each other, and waiting for the child's end. Less the
//! cost of creating one, which was measured before (`study.three_costs.task_create`), and halved, because it
//! is called two switches; the mean of a run, and of three runs the mean. Processes: fork; the parent
//! writes to one pipe and reads from another, the child the other way round; waitpid. Threads: clone; the
//! child writes a byte that the parent reads; waitpid; of these the text has the write alone, the rest is our
//! interpretation. All on one CPU. Published are 10 000 tasks per run;
//! here 1000, for time. Where the pipes are created is not published: here once, before.
//! ## Does not measure
//! A switch. The cost of the call that creates a task is subtracted, what the task costs afterwards is not:
//! its first page faults, its end, the wait for it, and the switches of these. The details `iteration_ns`
//! and `creation_ns` are what was measured and what was subtracted; `typical_ns` is the same arithmetic with
//! medians, `without_pipes_ns` the same for a parent and a child that never wake each other.
//! ## Interpretation
//! Compare with half of `switch.pipe`, whose two tasks live on. How many switches there were was counted:
//! `switches_per_iteration_count`.
//! ## Source
//! The three-costs experiment, section 3.3 (docs/studies/three-costs.md).
#include "tasks.h"
#include "../bytes.h"

#define SWITCHES 2 /* that the published arithmetic assumes in an iteration, besides the creation */

static int to_child[2], to_parent[2];

static void with_process(void)
{
    pid_t child = fork();
    if (child == 0) {
        take(to_child[0]);
        give(to_parent[1]);
        _exit(0);
    }
    if (child < 0)
        failed("fork");
    give(to_child[1]);
    take(to_parent[0]);
    wait_for(child);
}

static int writes(void *nothing)
{
    (void)nothing;
    give(to_parent[1]);
    _exit(0);
}

static void with_thread(void)
{
    pid_t child = clone(writes, stack + sizeof stack, SHARED, NULL);
    if (child < 0)
        failed("clone");
    take(to_parent[0]);
    wait_for(child);
}

/* A child that wakes no other task: made, ended, waited for. */
static void bare_life(int by_fork)
{
    pid_t child = by_fork ? fork() : clone(ends, stack + sizeof stack, SHARED, NULL);
    if (child == 0)
        _exit(0);
    wait_for(child);
}

/* Switches of this process and of the children that it has waited for. */
static double switches(void)
{
    struct rusage own, children;
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    return own.ru_nvcsw + own.ru_nivcsw + children.ru_nvcsw + children.ru_nivcsw;
}

/* The typical pair of the last run, in ticks. */
static double typical(void)
{
    qsort(elapsed, TASKS, sizeof *elapsed, by_size);
    return tenth(elapsed, TASKS, 5);
}

int main(int argc, char **argv)
{
    int by_fork = argc < 2 || !strcmp(argv[1], "processes");
    double taken_off = 0, sum = 0, mean, typical_creation, typical_life, before, counted;
    int run;

    if (pipe(to_child) || pipe(to_parent))
        failed("make a pipe");
    for (run = 0; run < RUNS; run++)
        taken_off += creation(by_fork) / RUNS;
    typical_creation = typical();
    RUN(mean, TASKS, 0, bare_life(by_fork), );
    typical_life = typical();
    first = -1;
    before = switches();

    begin();
    for (run = 0; run < RUNS; run++) {
        if (by_fork)
            RUN(mean, TASKS, taken_off, with_process(), );
        else
            RUN(mean, TASKS, taken_off, with_thread(), );
        sum += mean;
    }
    end();
    counted = switches() - before;

    result(sum / RUNS / SWITCHES, "ticks");
    say_spread(TASKS, taken_off);
    fact("switches_per_iteration", counted / (RUNS * TASKS), "count");
    fact("iteration", sum / RUNS + taken_off, "ticks");
    fact("creation", taken_off, "ticks");
    /* From medians, which interruptions hardly move: these are of one run each. */
    fact("typical", (typical() - typical_creation) / SWITCHES, "ticks");
    fact("without_pipes", (typical_life - typical_creation) / SWITCHES, "ticks");
    return 0;
}
