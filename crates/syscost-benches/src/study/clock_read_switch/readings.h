/* gettimeofday, and 100 000 readings of it in a row. */
#define _GNU_SOURCE
#include "../result.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#define READINGS 100000

/* A reading of the clock, which counts whole microseconds. */
MAYBE_UNUSED static int64_t now_us(void)
{
    struct timeval time;
    gettimeofday(&time, NULL);
    return time.tv_sec * 1000000LL + time.tv_usec;
}

static int64_t readings[READINGS];

/* Takes the readings into the array, which was touched before, as was the clock's page: a page fault would
 * be seen as a step. Says what the kernel counted meanwhile. */
MAYBE_UNUSED static void take_readings(void)
{
    struct rusage before, after;
    int i;

    memset(readings, 1, sizeof readings);
    now_us();
    getrusage(RUSAGE_SELF, &before);
    begin();
    for (i = 0; i < READINGS; i++) {
        struct timeval time;
        gettimeofday(&time, NULL);
        readings[i] = time.tv_sec * 1000000LL + time.tv_usec;
    }
    end();
    getrusage(RUSAGE_SELF, &after);
    fact("page_faults", after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt, "count");
    fact("switches", after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw, "count");
}
