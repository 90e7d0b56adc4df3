//! Creating a thread or a process, as the whole-system experiment timed it.
//!
//! ## Measures
//! `task=thread`: 100 times pthread_create and pthread_join; `task=process`: 10 times fork, a child that
//! exits immediately, and waitpid; between CPUID and RDTSC before and RDTSCP and CPUID after, per task; the
//! mean of 10 such trials. That the text's kernel task is a thread is our interpretation. Whether the
//! published time ends with the task's own end is not stated: here it does, so that every task has
//! run. A trial had 1 000 000 of them, which would take minutes.
//! ## Does not measure
//! The creation of the task alone: its start, its end and the switches to it and back are included. A process
//! copies the page tables of its parent's memory, which is small here.
//! ## Interpretation
//! Compare with `task.pthread{until=reaped}` and `task.fork{until=reaped}`.
//! ## Source
//! The whole-system experiment, CPU (docs/studies/whole-system.md).
#include "trials.h"

#include <pthread.h>
#include <sys/wait.h>

#define STATUS 7 /* of a child that has run */

static int ran;

static void *task(void *nothing)
{
    ran++; /* one at a time: each is joined before the next */
    return nothing;
}

static void make_thread(void)
{
    pthread_t thread;
    errno = pthread_create(&thread, NULL, task, NULL);
    if (!errno)
        errno = pthread_join(thread, NULL);
    if (errno)
        failed("make a thread");
}

static void make_process(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(STATUS);
    if (child < 0 || waitpid(child, &status, 0) != child)
        failed("make a process");
    ran += WIFEXITED(status) && WEXITSTATUS(status) == STATUS;
}

int main(int argc, char **argv)
{
    int is_thread = argc < 2 || !strcmp(argv[1], "thread");
    int tasks = argc > 2 ? atoi(argv[2]) : is_thread ? 100 : 10;
    struct rusage before, after;

    getrusage(RUSAGE_SELF, &before);
    begin();
    if (is_thread)
        TEN_TRIALS_OF(tasks, make_thread());
    else
        TEN_TRIALS_OF(tasks, make_process());
    end();
    getrusage(RUSAGE_SELF, &after);

    say_mean(TRIALS, "ticks");
    claim("tasks that ran", TRIALS * tasks, ran);
    fact("voluntary_switches_per_task", (after.ru_nvcsw - before.ru_nvcsw) / (TRIALS * (double)tasks),
         "count");
    return 0;
}
