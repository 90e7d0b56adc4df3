/* Tells how much of the time a core was own, by another burst than the program's: independent additions over a chain of
 * multiplications. `own-share CPU` probes every 2 to 5 ms, 10 us each, until SIGTERM, then prints the share of each second.
 * What an own core shows is the lowest dense mode of its own probes; the limit is where fewest lie above it. x86-64. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

static void __attribute__((noinline, aligned(64))) burst(uint32_t rounds) {
    __asm__ volatile(".p2align 6\n1:\n .rept 12\n add $1,%%eax\n add $1,%%ecx\n add $1,%%edx\n add $1,%%esi\n add $1,%%r8d\n .endr\n"
                     " dec %0\n jnz 1b\n" : "+r"(rounds)::"cc", "rax", "rcx", "rdx", "rsi", "r8");
}

static void __attribute__((noinline, aligned(64))) chain(uint32_t rounds) {
    uint64_t product = 1;
    __asm__ volatile(".p2align 6\n1:\n .rept 24\n imul %[f],%[p]\n .endr\n dec %[i]\n jnz 1b\n"
                     : [i] "+r"(rounds), [p] "+r"(product) : [f] "r"(3ull) : "cc");
}

static uint64_t ticks(void) {
    _mm_lfence();
    uint64_t now = __rdtsc();
    _mm_lfence();
    return now;
}

static volatile sig_atomic_t stopped;
static void stop(int signal) { (void)signal; stopped = 1; }

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of the sorted ratios, those from the one at `from` to `width` above it. */
static size_t within(const double *sorted, size_t count, size_t from, double width) {
    size_t end = from;
    while (end < count && sorted[end] <= sorted[from] * width) end++;
    return end - from;
}

static size_t at_least(const double *sorted, size_t count, double ratio) {
    size_t index = 0;
    while (index < count && sorted[index] < ratio) index++;
    return index;
}

int main(int count, char **arguments) {
    enum { MOST = 1 << 20 };
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(count > 1 ? atoi(arguments[1]) : 0, &set);
    double *ratio = malloc(MOST * sizeof *ratio), *sorted = malloc(MOST * sizeof *sorted);
    uint32_t *second = malloc(MOST * sizeof *second);
    if (sched_setaffinity(0, sizeof set, &set) || !ratio || !sorted || !second) return perror("own-share"), 1;
    srand(getpid());
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGTERM, &action, NULL);
    signal(SIGINT, SIG_IGN);
    struct timespec first, now;
    clock_gettime(CLOCK_MONOTONIC, &first);
    size_t taken = 0;
    while (!stopped && taken < MOST) {
        struct timespec pause = {0, 2000000 + rand() % 3000000};
        nanosleep(&pause, NULL);
        /* What ran before must not show. */
        for (int i = 0; i < 2; i++) { chain(8); burst(40); ticks(); }
        uint64_t a = ticks();
        chain(51);
        uint64_t b = ticks();
        burst(300);
        uint64_t c = ticks();
        clock_gettime(CLOCK_MONOTONIC, &now);
        ratio[taken] = sorted[taken] = (double)(c - b) / (double)(b - a);
        second[taken++] = (uint32_t)(now.tv_sec - first.tv_sec);
    }
    if (taken < 100) return printf("too few probes: %zu\n", taken), 0;
    qsort(sorted, taken, sizeof *sorted, compare);
    /* The lowest 2 % that hold 2 % of the probes, or the densest hardly higher. */
    size_t mode = 0, most = 0;
    double lowest = 0;
    for (size_t i = 0; i < taken && (!lowest || sorted[i] <= lowest * 1.08); i++) {
        size_t here = within(sorted, taken, i, 1.02);
        if (!lowest && here * 50 >= taken) lowest = sorted[i];
        if (lowest && here > most) most = here, mode = i;
    }
    if (!lowest) return printf("no mode in %zu probes\n", taken), 0;
    double limit = sorted[mode] * 1.04, fewest = 1e9;
    for (double low = sorted[mode] * 1.02; low < sorted[mode] * 1.15; low *= 1.005) {
        double here = (double)(at_least(sorted, taken, low * 1.02) - at_least(sorted, taken, low));
        if (here < fewest) fewest = here, limit = low * 1.01;
    }
    size_t own = at_least(sorted, taken, limit);
    printf("own %.0f %% of %zu probes (mode %.3f, limit %.3f); each second:", 100.0 * own / taken, taken, sorted[mode + most / 2], limit);
    for (size_t i = 0; i < taken;) {
        size_t start = i, ours = 0;
        for (; i < taken && second[i] == second[start]; i++) ours += ratio[i] < limit;
        printf(" %.0f", 100.0 * ours / (i - start));
    }
    puts("");
    return 0;
}
