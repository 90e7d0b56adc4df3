/* How a procedure says what it found: a line each on standard output, once it is done.
 *
 * syscost reads these lines. A program that is started by hand prints them as well. */
#ifndef SYSCOST_RESULT_H
#define SYSCOST_RESULT_H

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#define MAYBE_UNUSED __attribute__((unused))

/* What the kernel has counted for this process and the children that it has waited for. */
struct counts {
    long minor_faults, major_faults, voluntary_switches, involuntary_switches;
};

MAYBE_UNUSED static void count_into(struct counts *counts, long sign)
{
    int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN}, i;
    struct rusage used;
    for (i = 0; i < 2; i++) {
        getrusage(whose[i], &used);
        counts->minor_faults += sign * used.ru_minflt;
        counts->major_faults += sign * used.ru_majflt;
        counts->voluntary_switches += sign * used.ru_nvcsw;
        counts->involuntary_switches += sign * used.ru_nivcsw;
    }
}

static struct counts counted_between;
static long operations_made = 1;
static int procedures_begun, procedures_ended;

/* How many operations to make between begin() and end(): this many or, where syscost counts them rather than
 * times them, fewer. Without it, all that is between the two is one operation. */
MAYBE_UNUSED static long operations(long usual)
{
    const char *text = getenv("SYSCOST_OPERATIONS");
    long most = text ? atol(text) : usual;
    return operations_made = most < usual ? most : usual;
}

/* What is between these two is the procedure: its system calls, page faults and switches are counted, and
 * that nothing preempts it. No kernel knows such a request: it answers with an error, which is ignored. */
MAYBE_UNUSED static void begin(void)
{
    procedures_begun++;
    /* Whoever has started this program runs until it waits. */
    sched_yield();
    count_into(&counted_between, -1);
    prctl(0x2d7055f1, 2, 0, 0, 0);
}
MAYBE_UNUSED static void end(void)
{
    prctl(0x2d7055f1, 3, operations_made, 0, 0);
    count_into(&counted_between, 1);
    procedures_ended++;
}

/* The arguments that the kernel started it with. Its loop stays out of the functions that are timed. */
MAYBE_UNUSED __attribute__((noinline)) static void arguments(void)
{
    char line[4096];
    FILE *file = fopen("/proc/self/cmdline", "r");
    size_t length = file ? fread(line, 1, sizeof line - 1, file) : 0, at, number = 0;
    if (file)
        fclose(file);
    line[length] = 0;
    /* A line each. */
    for (at = 0; at < length; at++)
        if (line[at] == '\n')
            line[at] = ' ';
    for (at = 0; at < length; at += strlen(line + at) + 1)
        printf("argument %zu %s\n", number++, line + at);
}

/* A result as the published program printed it.
 * Units: ns, us, ms, s, ticks (of counter()), bytes, B/s, B/tick, count. */
MAYBE_UNUSED static void result(double value, const char *unit)
{
    /* Of a procedure that never began, no calls would be counted, and nothing said so. */
    if (procedures_begun == 0 || procedures_begun != procedures_ended) {
        fprintf(stderr, "begin() was called %d times, end() %d times\n", procedures_begun, procedures_ended);
        exit(1);
    }
    printf("result %.17g %s\n", value, unit);
    printf("between %ld %ld %ld %ld %ld\n", operations_made * procedures_ended, counted_between.minor_faults,
           counted_between.major_faults, counted_between.voluntary_switches, counted_between.involuntary_switches);
    arguments();
}

/* Something that was counted or timed besides. Units: as above, and %. */
MAYBE_UNUSED static void fact(const char *name, double value, const char *unit)
{
    printf("fact %.17g %s %s\n", value, unit, name);
}

/* What must have happened this often for the result to be what it is called. */
MAYBE_UNUSED static void claim(const char *what, double expected, double counted)
{
    printf("claim %.17g %.17g %s\n", expected, counted, what);
}

/* One single operation, for the distribution. */
MAYBE_UNUSED static void single(double value, const char *unit) { printf("single %.17g %s\n", value, unit); }

/* Ends the program: `what` failed, as errno says. */
MAYBE_UNUSED static void failed(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

/* Ends the program: this machine lacks something that it needs. */
MAYBE_UNUSED static void unsupported(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(77);
}

/* The processor's counter: rdtsc, or on arm64 the virtual counter. Nothing orders it with the instructions
 * around it. */
MAYBE_UNUSED static uint64_t counter(void)
{
#if defined(__x86_64__)
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    unsupported("no counter is read on this processor");
    return 0;
#endif
}

#endif
