//! Two child processes that pass a byte back and forth, the minimum of several runs, as the clock-read-switch
//! experiment took it.
//!
//! ## Measures
//! 20, 200 or 20 000 bytes passed from one child to the other and back through two pipes, between two
//! readings of gettimeofday by the child that writes first, which waits until the other is ready; per byte;
//! the minimum of several runs, each with new children. How many runs is not published: here 10, and 2
//! of 20 000. `hint=none` lets the kernel place the children, as published. `hint=same_cpu` stands for the
//! published hint to keep them together: it binds both to one CPU, since Linux has no such hint.
//! ## Does not measure
//! A switch from one child to the other, unless both share a CPU: left alone, each may have a CPU of its
//! own, which it leaves to the idle task for each byte. The details tell these apart, of the runs that were
//! the minimum of a result: `switches_per_byte_count` are all, `switches_to_partner_per_byte_count` those
//! of runs that ended with both on one CPU. With `hint=same_cpu` all must be of the second kind. What the
//! minimum hides is `median_run_ns` and `slowest_run_ns`, per byte as well. The children are new, and the
//! minimum has `page_faults_count` page faults of both; `after_round_trip_ns` is the minimum of as many
//! runs whose children have made a round trip before, `first_round_trip_adds_ns` the difference.
//! ## Interpretation
//! Compare with half of `switch.pipe{between=processes}`: with the hint `cpus=same`, without `cpus=free`.
//! ## Source
//! The clock-read-switch experiment, part 3 (docs/studies/clock-read-switch.md).
#include "readings.h"
#include "../bytes.h"

#include <sys/wait.h>

#define MOST_RUNS 100

/* What a child reports. */
struct report {
    int64_t took_us;
    long received, switches, faults;
    int cpu;
};

static int pipes[2][2]; /* to the first child, to the second */

/* A child's part in a round trip: the first one writes, then reads, the second one the other way round. */
static void round_trip(int number)
{
    if (number == 0)
        give(pipes[1][1]);
    take(pipes[number][0]);
    if (number == 1)
        give(pipes[0][1]);
}

/* A child: the first writes and takes the time, the second answers. The first waits until the other is
 * there. */
static void child(int number, int is_warm, int round_trips, int where)
{
    struct report report = {0};
    struct rusage before, after;

    if (number == 0)
        take(pipes[0][0]);
    else
        give(pipes[0][1]);
    if (is_warm)
        round_trip(number);
    getrusage(RUSAGE_SELF, &before);
    report.took_us = -now_us();
    for (; report.received < round_trips; report.received++)
        round_trip(number);
    report.took_us += now_us();
    getrusage(RUSAGE_SELF, &after);
    report.switches = after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw;
    report.faults = after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt;
    report.cpu = sched_getcpu();
    _exit(write(where, &report, sizeof report) != sizeof report);
}

/* One run: two new children, which make a round trip before if `is_warm`; their reports. */
static void run(int is_warm, int round_trips, struct report reports[2])
{
    int said[2][2], status, i;
    pid_t pids[2];

    for (i = 0; i < 2; i++)
        if (pipe(pipes[i]) || pipe(said[i]))
            failed("make a pipe");
    for (i = 1; i >= 0; i--) {
        pids[i] = fork();
        if (pids[i] == 0)
            child(i, is_warm, round_trips, said[i][1]);
        if (pids[i] < 0)
            failed("fork");
    }
    for (i = 0; i < 2; i++) {
        if (read(said[i][0], &reports[i], sizeof *reports) != sizeof *reports)
            failed("read a child's report");
        if (waitpid(pids[i], &status, 0) != pids[i] || status != 0)
            failed("wait for a child");
        close(said[i][0]), close(said[i][1]), close(pipes[i][0]), close(pipes[i][1]);
    }
}

static int by_time(const void *a, const void *b)
{
    int64_t one = ((const struct report *)a)->took_us, other = ((const struct report *)b)->took_us;
    return (one > other) - (one < other);
}

/* The switches of a run, of both children. */
static long switches_of(const struct report reports[2]) { return reports[0].switches + reports[1].switches; }

/* Those from one child to the other: while both have a CPU of their own there are none. */
static long switches_to_partner(const struct report reports[2])
{
    return reports[0].cpu == reports[1].cpu ? switches_of(reports) : 0;
}

int main(int argc, char **argv)
{
    int bytes = argc > 1 ? atoi(argv[1]) : 200;
    int runs = argc > 2 ? atoi(argv[2]) : 10;
    int is_bound = argc > 3 && !strcmp(argv[3], "same_cpu");
    static struct report all[MOST_RUNS][2];
    struct report *least = all[0];
    long received = 0, to_partner = 0, faults;
    int together = 0, i;

    if (runs < 1 || runs > MOST_RUNS)
        unsupported("1 to 100 runs");
    begin();
    for (i = 0; i < runs; i++)
        run(0, bytes / 2, all[i]);
    end();

    for (i = 0; i < runs; i++) {
        together += all[i][0].cpu == all[i][1].cpu;
        received += all[i][0].received + all[i][1].received;
        to_partner += switches_to_partner(all[i]);
    }
    qsort(all, runs, sizeof *all, by_time);
    faults = least[0].faults + least[1].faults;
    result((double)least->took_us / bytes, "us");
    claim("bytes received per byte sent", 1, received / ((double)runs * bytes));
    if (is_bound) {
        claim("runs that ended with both on one CPU, in percent", 100, 100.0 * together / runs);
        claim("a switch from one child to the other for each byte", 1, to_partner >= 0.9 * runs * bytes);
    }
    fact("placed_on_one_cpu", 100.0 * together / runs, "%");
    fact("switches_per_byte", (double)switches_of(least) / bytes, "count");
    fact("switches_to_partner_per_byte", (double)switches_to_partner(least) / bytes, "count");
    fact("page_faults", faults, "count");
    fact("median_run", (all[(runs - 1) / 2]->took_us + all[runs / 2]->took_us) / (2.0 * bytes), "us");
    fact("slowest_run", (double)all[runs - 1]->took_us / bytes, "us");
    if (least->took_us > 0)
        fact("clock_step", 100.0 / least->took_us, "%");
    if (is_bound) {
        double took = least->took_us;
        for (i = 0; i < runs; i++)
            run(1, bytes / 2, all[i]);
        qsort(all, runs, sizeof *all, by_time);
        fact("after_round_trip", (double)least->took_us / bytes, "us");
        fact("first_round_trip_adds", (took - least->took_us) / bytes, "us");
    }
    return 0;
}
