//! Switches by pipes, as the whole-system experiment timed them.
//!
//! ## Measures
//! 1000 round trips of two tasks that wake each other by two pipes, on one CPU, between CPUID and RDTSC
//! before and RDTSCP and CPUID after, per switch, of which a round trip has two; the mean of 10 such
//! trials. `between=threads` stands for what the text calls kernel, `between=processes` for what it calls
//! user; that, and that a round trip is halved, is our interpretation. A trial had 1 000 000 of them, which
//! would take minutes; in a study that is run with `--thorough` it has 100 000.
//! ## Does not measure
//! A switch without the write and the read that cause it.
//! ## Interpretation
//! Compare with `switch.pipe`, half of whose round trip is a switch.
//! ## Source
//! The whole-system experiment, CPU (docs/studies/whole-system.md).
#include "trials.h"
#include "../bytes.h"

#include <pthread.h>
#include <sys/wait.h>

static int there[2], back[2], round_trips;

/* The other task: answers all round trips. */
static void *answer(void *nothing)
{
    int i;
    for (i = 0; i < TRIALS * round_trips; i++) {
        take(there[0]);
        give(back[1]);
    }
    return nothing;
}

static void between_threads(void)
{
    pthread_t thread;
    errno = pthread_create(&thread, NULL, answer, NULL);
    if (errno)
        failed("start a thread");
    TEN_TRIALS_OF(round_trips, give(there[1]); take(back[0]));
    pthread_join(thread, NULL);
}

static void between_processes(void)
{
    int status;
    pid_t child = fork();
    if (child < 0)
        failed("fork");
    if (child == 0) {
        answer(NULL);
        _exit(0);
    }
    TEN_TRIALS_OF(round_trips, give(there[1]); take(back[0]));
    if (waitpid(child, &status, 0) != child || status != 0)
        failed("wait for the other process");
}

int main(int argc, char **argv)
{
    int trial;
    double counted;

    round_trips = argc > 2 ? atoi(argv[2]) : 1000;
    if (pipe(there) || pipe(back))
        failed("make a pipe");
    counted = -(switches(RUSAGE_SELF) + switches(RUSAGE_CHILDREN));
    begin();
    if (argc < 2 || !strcmp(argv[1], "threads"))
        between_threads();
    else
        between_processes();
    end();
    counted += switches(RUSAGE_SELF) + switches(RUSAGE_CHILDREN);

    for (trial = 0; trial < TRIALS; trial++)
        trials[trial] /= 2; /* switches of a round trip */
    say_mean(TRIALS, "ticks");
    fact("switches_per_round_trip", counted / (TRIALS * round_trips), "count");
    return 0;
}
