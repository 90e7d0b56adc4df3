//! Two threads that wake each other by semaphores, as the call-and-switch experiment timed them.
//!
//! ## Measures
//! Round trips of two threads, each of which posts the other's semaphore and waits for its own, less two
//! readings of the timer, divided by twice their number; after 200 round trips to warm up; the median of 7
//! such results, rounded to one decimal. Nothing is pinned, as published. How many round trips there were
//! is not published: here 500.
//! ## Does not measure
//! A switch from one thread to the other, unless both share a CPU: left alone, the scheduler puts them on
//! two, and the time is that of waking an idle CPU. The details tell these apart: of
//! `switches_per_round_trip_count` those are to the other thread that were made in runs that
//! ended with both on one CPU (`switches_to_partner_per_round_trip_count`); the others are to the idle task.
//! ## Interpretation
//! Compare with half of a round trip of `switch.semaphore{between=threads}`: `cpus=free` is placed in the
//! same way, and half of `cpus=same` is a switch.
//! ## Source
//! The call-and-switch experiment, part 2 (docs/studies/call-and-switch.md).
#include "runs.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/resource.h>

#define RUNS 7
#define WARM_UPS 200
#define ROUND_TRIPS 500

static sem_t ours, theirs;
static int answered, their_cpu;

static void *partner(void *nothing)
{
    int i;
    for (i = 0; i < WARM_UPS + ROUND_TRIPS; i++) {
        sem_wait(&theirs);
        answered++;
        sem_post(&ours);
    }
    their_cpu = sched_getcpu();
    return nothing;
}

/* Half a round trip, in ns. */
static double run(double timer)
{
    pthread_t thread;
    double ns;
    int i;

    errno = pthread_create(&thread, NULL, partner, NULL);
    if (errno)
        failed("start a thread");
    for (i = 0; i < WARM_UPS; i++) {
        sem_post(&theirs);
        sem_wait(&ours);
    }
    ns = -now_ns();
    for (i = 0; i < ROUND_TRIPS; i++) {
        sem_post(&theirs);
        sem_wait(&ours);
    }
    ns += now_ns();
    pthread_join(thread, NULL);
    return (ns - 2 * timer) / (2 * ROUND_TRIPS);
}

/* Times that a thread of this program was switched away from: it waited, or the one that it woke took its
 * place. */
static double switches_made(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_nvcsw + used.ru_nivcsw;
}

int main(void)
{
    double results[RUNS], switches = 0, to_partner = 0, all = RUNS * (WARM_UPS + ROUND_TRIPS);
    int together = 0, i;

    if (sem_init(&ours, 0, 0) || sem_init(&theirs, 0, 0))
        failed("make a semaphore");
    begin();
    for (i = 0; i < RUNS; i++) {
        double before = switches_made(), of_run;
        results[i] = run(timer_ns());
        of_run = switches_made() - before;
        switches += of_run;
        if (sched_getcpu() == their_cpu) {
            to_partner += of_run;
            together++;
        }
    }
    end();

    result(rounded(median(results, RUNS)), "ns");
    claim("round trips that the other thread counted", all, answered);
    fact("on_one_cpu", 100.0 * together / RUNS, "%");
    fact("switches_per_round_trip", switches / all, "count");
    fact("switches_to_partner_per_round_trip", to_partner / all, "count");
    return 0;
}
