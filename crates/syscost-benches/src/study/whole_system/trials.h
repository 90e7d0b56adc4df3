/* The timer and the trials of the whole-system programs. */
#define _GNU_SOURCE
#include "../result.h"

#include <math.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#define TRIALS 10
#define MANY 1000000 /* operations of a trial, as published, where they are short */

static double trials[TRIALS]; /* the last results */

#if defined(__x86_64__)
/* Before a trial: CPUID, which waits for all earlier instructions, and RDTSC. */
static uint64_t start(void)
{
    uint32_t low, high;
    __asm__ volatile("cpuid\n\trdtsc" : "=a"(low), "=d"(high) : "a"(0) : "rbx", "rcx", "memory");
    return (uint64_t)high << 32 | low;
}

/* After it: RDTSCP, which waits for all earlier instructions, and CPUID, which no later one overtakes. */
static uint64_t stop(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtscp\n\tmov %%eax, %0\n\tmov %%edx, %1\n\tcpuid"
                     : "=&r"(low), "=&r"(high) : : "rax", "rbx", "rcx", "rdx", "memory");
    return (uint64_t)high << 32 | low;
}
#else
static uint64_t start(void) { unsupported("RDTSCP and CPUID are instructions of x86-64"); return 0; }
static uint64_t stop(void) { return 0; }
#endif

/* Ten trials of this many turns of a loop, in ticks per turn. A macro, so that nothing but `body` is in the
 * loop. */
#define TEN_TRIALS_OF(turns, body)                                                                       \
    do {                                                                                                 \
        int trial;                                                                                       \
        for (trial = 0; trial < TRIALS; trial++) {                                                       \
            uint64_t begun = start();                                                                    \
            int i;                                                                                       \
            for (i = 0; i < (turns); i++) {                                                              \
                body;                                                                                    \
            }                                                                                            \
            trials[trial] = (double)(stop() - begun) / (turns);                                          \
        }                                                                                                \
    } while (0)

/* The least result of the last ten trials: an undisturbed one. */
MAYBE_UNUSED static double shortest(void)
{
    double least = trials[0];
    int trial;
    for (trial = 1; trial < TRIALS; trial++)
        least = fmin(least, trials[trial]);
    return least;
}

/* Says the mean of the last trials, as published, and their standard deviation. */
static void say_mean(int count, const char *unit)
{
    double sum = 0, squares = 0, mean;
    int trial;
    for (trial = 0; trial < count; trial++)
        sum += trials[trial];
    mean = sum / count;
    for (trial = 0; trial < count; trial++)
        squares += (trials[trial] - mean) * (trials[trial] - mean);
    result(mean, unit);
    fact("trials_stddev", sqrt(squares / (count - 1)), unit);
}

/* Times that a task was switched away from, because it waited or because another one was due. */
MAYBE_UNUSED static double switches(int whose)
{
    struct rusage used;
    getrusage(whose, &used);
    return used.ru_nvcsw + used.ru_nivcsw;
}

/* The size of the last cache in bytes, by the C library; 0 where it knows none. */
MAYBE_UNUSED static double last_cache(void)
{
#ifdef _SC_LEVEL3_CACHE_SIZE
    return sysconf(_SC_LEVEL3_CACHE_SIZE);
#else
    return 0;
#endif
}

/* Says how large the last cache is, and how many of it these bytes are. */
MAYBE_UNUSED static void say_last_caches(double bytes)
{
    if (last_cache() > 0) {
        fact("last_caches", bytes / last_cache(), "count");
        fact("last_cache_mib", last_cache() / (1 << 20), "count");
    }
}
