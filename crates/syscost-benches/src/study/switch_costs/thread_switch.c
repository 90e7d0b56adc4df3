//! Two threads that yield, by elapsed time, by CPU time, and their difference, as the switch-costs
//! experiment took it.
//!
//! ## Measures
//! From before the start of the first of two threads, each of which calls sched_yield 5000 times, to after
//! the end of the second, divided by 5000: `clock=monotonic` by elapsed time, `clock=cpu_time` by the CPU
//! time of the process, that is of both threads; `clock=difference` is the difference of a run by each.
//! Nothing is pinned, as published. Published are 100 000 yields; beside other programs, each of which may
//! be given the CPU for milliseconds, these would take minutes.
//! ## Does not measure
//! A switch from one thread to the other, unless both share a CPU: otherwise there is no other task
//! to yield to. The detail `switches_per_yield_count` shows how many there were. Where they do
//! share one, each of the 5000 is two yields and two switches, and all of it is CPU time: the
//! difference is what other tasks took of the CPU. A 5000th of starting two threads is in the results as well, some 10 to
//! 20 ns.
//! ## Interpretation
//! Compare with `switch.yield{between=threads,cpus=same,tasks=2}` and with `study.switch_costs.yield_alone`.
//! ## Source
//! The switch-costs experiment, "Cost of thread switching" (docs/studies/switch-costs.md).
#include "loops.h"

#include <pthread.h>

#define THREADS 2

static long yields; /* of each thread */
static int placed[THREADS];

static void *yielder(void *place)
{
    long i;
    for (i = 0; i < yields; i++)
        sched_yield();
    *(int *)place = sched_getcpu();
    return NULL;
}

/* A run: the time of both threads' yields by this clock, in ns per yield of one of them. */
static double yield_both(clockid_t clock)
{
    pthread_t threads[THREADS];
    double ns;
    int i;

    ns = -now(clock);
    for (i = 0; i < THREADS; i++) {
        errno = pthread_create(&threads[i], NULL, yielder, &placed[i]);
        if (errno)
            failed("start a thread");
    }
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return (ns + now(clock)) / yields;
}

int main(int argc, char **argv)
{
    const char *clock = argc > 1 ? argv[1] : "difference";
    double ns, before = switches(RUSAGE_SELF), together;
    int runs = 1;

    yields = argc > 2 ? atol(argv[2]) : 5000;
    begin();
    ns = yield_both(strcmp(clock, "cpu_time") ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID);
    together = placed[0] == placed[1];
    if (!strcmp(clock, "difference")) {
        ns -= yield_both(CLOCK_PROCESS_CPUTIME_ID);
        together += placed[0] == placed[1];
        runs = 2;
    }
    end();

    result(ns, "ns");
    fact("placed_on_one_cpu", 100 * together / runs, "%");
    fact("switches_per_yield", (switches(RUSAGE_SELF) - before) / (runs * THREADS * (double)yields), "count");
    return 0;
}
