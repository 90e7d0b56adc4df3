/* The tasks of the three-costs programs: processes by fork, "threads" by clone with the parent's memory. */
#define _GNU_SOURCE
#include "pairs.h"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define TASKS 1000 /* of a run; published are 10 000, which would take seconds */

/* The flags are not published: memory, files and handlers are shared. */
#define SHARED (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | SIGCHLD)

static char stack[65536] __attribute__((aligned(16)));

/* Waits for a child, which must have ended well. */
static void wait_for(pid_t child)
{
    int status;
    if (child < 0)
        failed("make a task");
    if (waitpid(child, &status, 0) != child || status != 0)
        failed("wait for a task");
}

static int ends(void *nothing)
{
    (void)nothing;
    _exit(0);
}

/* One run of creations alone: the mean time of fork or clone, in ticks. */
static double creation(int by_fork)
{
    pid_t child;
    double mean;

    if (by_fork)
        RUN(mean, TASKS, 0, if ((child = fork()) == 0) _exit(0), wait_for(child));
    else
        RUN(mean, TASKS, 0, child = clone(ends, stack + sizeof stack, SHARED, NULL), wait_for(child));
    return mean;
}
