/* The arithmetic of the call-and-switch programs. */
#define _GNU_SOURCE
#include "../result.h"

#include <math.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#define TIMER_PAIRS 1001
#define MOST 1001

/* A reading of the timer, in ns. */
static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* The median of these results. */
static double median(const double *results, int count)
{
    double sorted[MOST];
    memcpy(sorted, results, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_size);
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

/* The median difference of two readings in a row, in ns. */
static double timer_ns(void)
{
    double pairs[TIMER_PAIRS];
    int i;
    for (i = 0; i < TIMER_PAIRS; i++) {
        pairs[i] = -now_ns();
        pairs[i] += now_ns();
    }
    return median(pairs, TIMER_PAIRS);
}

/* With one decimal, as results were printed. */
static double rounded(double value) { return round(value * 10) / 10; }

/* Where the loops add up their counter, so that no compiler removes them. Where it lives is not published: here
 * the sum stays in a register during a loop, and is stored at its end. */
MAYBE_UNUSED static volatile uint64_t sink_u64;

/* The time of a loop of this many turns that adds up its counter, in ns. The empty statement keeps the compiler
 * from computing the sum without the loop. */
#define TIME(ns, turns, body)                                                                            \
    do {                                                                                                 \
        uint64_t sum = 0, i;                                                                             \
        (ns) = -now_ns();                                                                                \
        for (i = 0; i < (turns); i++) {                                                                  \
            body;                                                                                        \
            sum += i;                                                                                    \
            __asm__ volatile("" : "+r"(sum));                                                            \
        }                                                                                                \
        sink_u64 = sum;                                                                                  \
        (ns) += now_ns();                                                                                \
    } while (0)
