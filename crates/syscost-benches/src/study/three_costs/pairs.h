/* The loop of the three-costs programs: a pair of readings around each single operation.
 *
 * Their sum is what the published programs kept; here each pair is kept as well, for what a mean hides. */
#include "../result.h"

#define RUNS 3
#define ITERATIONS 10000

static int64_t elapsed[ITERATIONS]; /* the pairs of the last run */
static int64_t empty[ITERATIONS];   /* pairs with nothing between them */
static int64_t first = -1;          /* the first pair of all, if there was one */

/* One run: `mean` is the mean time of an operation less `overhead`, in ticks. A macro, so that nothing but
 * the operation stands between the two readings. `after` is done outside of the pair. */
#define RUN(mean, times, overhead, operation, after)                                                     \
    do {                                                                                                 \
        double total = 0;                                                                                \
        int i;                                                                                           \
        for (i = 0; i < (times); i++) {                                                                  \
            uint64_t begun, ended;                                                                       \
            begun = counter();                                                                           \
            operation;                                                                                   \
            ended = counter();                                                                           \
            total += (double)(int64_t)(ended - begun) - (overhead);                                      \
            elapsed[i] = (int64_t)(ended - begun);                                                       \
            after;                                                                                       \
        }                                                                                                \
        if (first < 0)                                                                                   \
            first = elapsed[0];                                                                          \
        (mean) = total / (times);                                                                        \
    } while (0)

/* What two readings in a row differ by: the mean of three runs, in ticks. */
MAYBE_UNUSED static double pair_overhead(void)
{
    double sum = 0, mean;
    int run;
    for (run = 0; run < RUNS; run++) {
        RUN(mean, ITERATIONS, 0, , );
        sum += mean;
    }
    memcpy(empty, elapsed, sizeof empty);
    first = -1;
    return sum / RUNS;
}

static int by_size(const void *a, const void *b)
{
    int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

/* The pair of this rank, in tenths, of sorted ones. */
MAYBE_UNUSED static int64_t tenth(const int64_t *sorted, int times, int rank)
{
    return sorted[(times - 1) * rank / 10];
}

/* Says what the mean of the last run hides. */
MAYBE_UNUSED static void say_spread(int times, double overhead)
{
    int no_longer = 0;
    qsort(elapsed, times, sizeof *elapsed, by_size);
    while (no_longer < times && elapsed[no_longer] <= overhead)
        no_longer++;
    fact("first_operation", first - overhead, "ticks");
    fact("single_p10", tenth(elapsed, times, 1) - overhead, "ticks");
    fact("single_p90", tenth(elapsed, times, 9) - overhead, "ticks");
    fact("single_p90_less_p10", tenth(elapsed, times, 9) - tenth(elapsed, times, 1), "ticks");
    fact("zero_or_less", 100.0 * no_longer / times, "%");
}

/* The greatest common divisor, where neither is negative. */
static int64_t common_divisor(int64_t one, int64_t other)
{
    while (other != 0) {
        int64_t rest = one % other;
        one = other;
        other = rest;
    }
    return one;
}

/* Says in what steps pairs differ, by the shortest nine tenths: only these do. After say_spread. */
MAYBE_UNUSED static void say_steps(void)
{
    int64_t step = 0;
    int i;
    qsort(empty, ITERATIONS, sizeof *empty, by_size);
    for (i = 0; i < ITERATIONS * 9 / 10; i++) {
        step = common_divisor(step, empty[i] - empty[0]);
        step = common_divisor(step, elapsed[i] - elapsed[0]);
    }
    fact("pair_step", step, "ticks");
    fact("pair_step_in_ticks", step, "count");
}

/* Says by how much typical pairs around an operation are longer than empty ones. After say_spread. */
MAYBE_UNUSED static void say_difference(void)
{
    say_steps();
    fact("typical_pair_less_empty", tenth(elapsed, ITERATIONS, 5) - tenth(empty, ITERATIONS, 5), "ticks");
    fact("empty_pair_p90_less_p10", tenth(empty, ITERATIONS, 9) - tenth(empty, ITERATIONS, 1), "ticks");
}
