/* The clock and the loops of the switch-costs programs. */
#define _GNU_SOURCE
#include "../result.h"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* A reading of a clock, in ns. */
static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

/* The time of this many turns of a loop, by the CPU time of the process, in ns a turn. */
#define CPU_TIME_OF(ns, turns, body)                                                                     \
    do {                                                                                                 \
        double began = now(CLOCK_PROCESS_CPUTIME_ID);                                                    \
        long i;                                                                                          \
        for (i = 0; i < (turns); i++) {                                                                  \
            body;                                                                                        \
        }                                                                                                \
        (ns) = (now(CLOCK_PROCESS_CPUTIME_ID) - began) / (turns);                                        \
    } while (0)

/* Switches away from the task whose usage it is. */
MAYBE_UNUSED static double switches(int who)
{
    struct rusage used;
    getrusage(who, &used);
    return used.ru_nvcsw + used.ru_nivcsw;
}
