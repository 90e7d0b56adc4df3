//! Parent and child that pass a byte back and forth, by elapsed time, by CPU time, and their
//! difference, as the switch-costs experiment took it.
//!
//! ## Measures
//! Round trips through two pipes from before the parent's first write to after its last read, per round
//! trip: `clock=monotonic` by elapsed time, `clock=cpu_time` by the CPU time of the parent;
//! `clock=difference` is a run of each, their difference halved. Nothing is pinned, as published. Published
//! are 100 000 round trips; here 2000, so that a row has results of several processes in its time. That does
//! not change a result, which is per round trip: the start of the child and the first round trip, which
//! comes before as published, are not timed.
//! ## Does not measure
//! A switch. The CPU time of the parent includes the kernel's part of its own writes, reads and switches,
//! so that these are subtracted; and it does not include the child's time, so that everything the child
//! does remains. The details are the two parts of what remains of a round trip: `child_cpu_time_ns`, and
//! `elapsed_without_cpu_time_ns`, in which neither ran. CPU time is counted in ns by the scheduler:
//! readings in a row that differ do so by no less than a reading takes (`cpu_clock_pair_least_ns`), while
//! on systems that count it by the tick it could not be used at all. Of `switches_per_round_trip_count`
//! those are to the other process that were made in runs that ended with both on one CPU
//! (`switches_to_partner_per_round_trip_count`); the others are to the idle task.
//! ## Interpretation
//! Compare with `switch.pipe{between=processes}`: `cpus=free` is placed in the same way, and half of
//! `cpus=same` is a switch.
//! ## Source
//! The switch-costs experiment, "Cost of process switching" (docs/studies/switch-costs.md).
#include "loops.h"
#include "../bytes.h"

#include <sys/wait.h>

/* What was seen of both processes between the first round trip and the last. */
struct seen {
    double cpu_time, switches, to_partner;
    long answers;
    int cpu;
};

static int to_child[2], to_parent[2];

/* The child: answers each byte, the first of which is not counted, and reports. */
static void answer(long trips, int report)
{
    struct seen seen = {0};
    take(to_child[0]);
    give(to_parent[1]);
    seen.cpu_time = -now(CLOCK_PROCESS_CPUTIME_ID);
    seen.switches = -switches(RUSAGE_SELF);
    for (; seen.answers < trips; seen.answers++) {
        take(to_child[0]);
        give(to_parent[1]);
    }
    seen.cpu_time += now(CLOCK_PROCESS_CPUTIME_ID);
    seen.switches += switches(RUSAGE_SELF);
    seen.cpu = sched_getcpu();
    _exit(write(report, &seen, sizeof seen) != sizeof seen);
}

/* A run: the time of this many round trips by this clock, in ns a trip; adds what was seen to `seen`. */
static double round_trips(clockid_t clock, long trips, struct seen *seen, double *elapsed)
{
    clockid_t other = clock == CLOCK_MONOTONIC ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    double ns, other_ns, own_switches;
    struct seen child;
    int report[2], status, on_one;
    long i;
    pid_t pid;

    if (pipe(to_child) || pipe(to_parent) || pipe(report))
        failed("make a pipe");
    if ((pid = fork()) == 0)
        answer(trips, report[1]);
    if (pid < 0)
        failed("fork");
    give(to_child[1]);
    take(to_parent[0]);
    own_switches = -switches(RUSAGE_SELF);
    other_ns = -now(other);
    ns = -now(clock);
    for (i = 0; i < trips; i++) {
        give(to_child[1]);
        take(to_parent[0]);
    }
    ns += now(clock);
    other_ns += now(other);
    own_switches += switches(RUSAGE_SELF);
    if (read(report[0], &child, sizeof child) != sizeof child || waitpid(pid, &status, 0) != pid || status != 0)
        failed("wait for the child");
    for (i = 0; i < 2; i++) {
        close(to_child[i]);
        close(to_parent[i]);
        close(report[i]);
    }
    seen[0].cpu_time += clock == CLOCK_MONOTONIC ? other_ns : ns;
    seen[0].switches += own_switches;
    seen[1].cpu_time += child.cpu_time;
    seen[1].switches += child.switches;
    seen[1].answers += child.answers;
    on_one = child.cpu == sched_getcpu();
    seen[0].to_partner += on_one ? own_switches : 0;
    seen[1].to_partner += on_one ? child.switches : 0;
    seen[1].cpu += on_one;
    *elapsed += clock == CLOCK_MONOTONIC ? ns : other_ns;
    return ns / trips;
}

/* By how much readings of the CPU-time clock in a row differ at least, in ns: what a reading takes, unless
 * the clock counts by the tick. */
static double least_pair(void)
{
    double last = now(CLOCK_PROCESS_CPUTIME_ID), least = 0;
    int i;
    for (i = 0; i < 1000; i++) {
        double next = now(CLOCK_PROCESS_CPUTIME_ID);
        if (next > last && (least == 0 || next - last < least))
            least = next - last;
        last = next;
    }
    return least;
}

int main(int argc, char **argv)
{
    const char *clock = argc > 1 ? argv[1] : "difference";
    long trips = argc > 2 ? atol(argv[2]) : 2000;
    struct seen seen[2] = {0}; /* of the parent, of its children */
    double elapsed = 0, ns, all, pair;
    int runs = 1;

    begin();
    if (!strcmp(clock, "monotonic")) {
        ns = round_trips(CLOCK_MONOTONIC, trips, seen, &elapsed);
    } else if (!strcmp(clock, "cpu_time")) {
        ns = round_trips(CLOCK_PROCESS_CPUTIME_ID, trips, seen, &elapsed);
    } else {
        ns = round_trips(CLOCK_MONOTONIC, trips, seen, &elapsed);
        ns = (ns - round_trips(CLOCK_PROCESS_CPUTIME_ID, trips, seen, &elapsed)) / 2;
        runs = 2;
    }
    end();

    all = (double)runs * trips;
    result(ns, "ns");
    claim("answers per round trip", 1, seen[1].answers / all);
    fact("placed_on_one_cpu", 100.0 * seen[1].cpu / runs, "%");
    fact("switches_per_round_trip", (seen[0].switches + seen[1].switches) / all, "count");
    fact("switches_to_partner_per_round_trip", (seen[0].to_partner + seen[1].to_partner) / all, "count");
    fact("parent_cpu_time", seen[0].cpu_time / all, "ns");
    fact("child_cpu_time", seen[1].cpu_time / all, "ns");
    fact("child_part_of_difference", 100 * seen[1].cpu_time / (elapsed - seen[0].cpu_time), "%");
    fact("elapsed_without_cpu_time", (elapsed - seen[0].cpu_time - seen[1].cpu_time) / all, "ns");
    pair = least_pair();
    if (pair > 0)
        fact("cpu_clock_pair_least", pair, "ns");
    return 0;
}
