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
//! A switch, unless both share a CPU: left alone, each may have a CPU that waits idle for it. The details
//! show it: `placed_on_one_cpu_percent` of all runs ended with both on one CPU,
//! `placed_best_on_one_cpu_percent` of those that were the minimum of a result. With
//! `hint=same_cpu` both must have been on one, and a child must have left it for each byte.
//! ## Interpretation
//! Compare with half of `switch.pipe{between=processes,cpus=same}`.
//! ## Source
//! The clock-read-switch experiment, part 3 (docs/studies/clock-read-switch.md).
#include "readings.h"
#include "../bytes.h"

#include <sys/wait.h>

/* What a child reports. */
struct report {
    int64_t took_us;
    long received, switches, faults;
    int cpu;
};

static int pipes[2][2]; /* to the first child, to the second */

/* A child: the first writes and takes the time, the second answers. The first waits until the other is
 * there. */
static void child(int number, int round_trips, int where)
{
    struct report report = {0};
    struct rusage before, after;

    if (number == 0)
        take(pipes[0][0]);
    else
        give(pipes[0][1]);
    getrusage(RUSAGE_SELF, &before);
    report.took_us = -now_us();
    for (; report.received < round_trips; report.received++) {
        if (number == 0)
            give(pipes[1][1]);
        take(pipes[number][0]);
        if (number == 1)
            give(pipes[0][1]);
    }
    report.took_us += now_us();
    getrusage(RUSAGE_SELF, &after);
    report.switches = after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw;
    report.faults = after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt;
    report.cpu = sched_getcpu();
    _exit(write(where, &report, sizeof report) != sizeof report);
}

/* One run: two new children; their reports. */
static void run(int round_trips, struct report reports[2])
{
    int said[2][2], status, i;
    pid_t pids[2];

    for (i = 0; i < 2; i++)
        if (pipe(pipes[i]) || pipe(said[i]))
            failed("make a pipe");
    for (i = 1; i >= 0; i--) {
        pids[i] = fork();
        if (pids[i] == 0)
            child(i, round_trips, said[i][1]);
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

int main(int argc, char **argv)
{
    int bytes = argc > 1 ? atoi(argv[1]) : 200;
    int runs = argc > 2 ? atoi(argv[2]) : 10;
    int is_bound = argc > 3 && !strcmp(argv[3], "same_cpu");
    struct report two[2];
    double least = 0, most = 0, received = 0, switches = 0, faults = 0;
    int together = 0, best_together = 0, i;

    begin();
    for (i = 0; i < runs; i++) {
        int on_one;
        run(bytes / 2, two);
        on_one = two[0].cpu == two[1].cpu;
        together += on_one;
        received += two[0].received + two[1].received;
        switches += two[0].switches + two[1].switches;
        faults += two[0].faults + two[1].faults;
        if (two[0].took_us > most)
            most = two[0].took_us;
        if (i == 0 || two[0].took_us < least) {
            least = two[0].took_us;
            best_together = on_one;
        }
    }
    end();

    result(least / bytes, "us");
    claim("bytes received per byte sent", 1, received / ((double)runs * bytes));
    if (is_bound) {
        claim("runs that ended with both on one CPU, in percent", 100, 100.0 * together / runs);
        claim("runs with a switch for each byte", 1, switches >= 0.9 * runs * bytes);
    }
    fact("placed_on_one_cpu", 100.0 * together / runs, "%");
    fact("placed_best_on_one_cpu", 100.0 * best_together, "%");
    fact("switches_per_byte", switches / ((double)runs * bytes), "count");
    fact("page_faults_per_run", faults / runs, "count");
    if (least > 0) {
        fact("clock_step", 100.0 / least, "%");
        fact("repetitions_vary", 100 * (most - least) / least, "%");
    }
    return 0;
}
