/* syscost: a program measures its own functions as syscost measures the machine's primitives.
 *
 *     #include <syscost.h>
 *
 *     static uint64_t parse(void *text) { return strtoul(text, NULL, 10); }
 *     static void *text(void) { return strdup("123456789"); }
 *
 *     int main(void) {
 *         struct syscost_function *f = syscost_op("text.strtoul", text, parse, free);
 *         syscost_expect(f, "allocations", 0, 0);
 *         return syscost_main();
 *     }
 *
 * `./program run`, `list`, `show`, `compare`, `ab --b ./other-build` are then what they are of syscost: see docs/functions.md. */
#ifndef SYSCOST_H
#define SYSCOST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function that is measured. */
struct syscost_function;

/* Adds a function. Its row has this name, words with a dot between them, each of small letters, digits and `_`, as "text.strtoul".
 *
 * For each process that measures, setup() returns what op() is given: one that returns NULL fails, and the row says so. It may be
 * NULL itself, as may teardown(). op() is one operation. What it returns is used, so that no compiler removes what computes it:
 * return something that depends on all that is to be done. A call by pointer, about a nanosecond, is part of the price. It prints nothing to
 * standard output, and neither throws nor jumps out. */
struct syscost_function *syscost_op(const char *name, void *(*setup)(void), uint64_t (*op)(void *state), void (*teardown)(void *state));

/* Declares how often something happens in one operation, from `low` to `high` times (INFINITY: no limit): otherwise the row has no
 * number. What is not declared is expected not to happen: no system call, no page fault, no sleep.
 *
 * `what` is as a run with -v prints it: "read system calls" and so on, "other system calls", "minor page faults",
 * "major page faults", "voluntary switches", "allocations" (of which nothing is expected unless it is declared), and "core cycles",
 * of which only `low` counts: a price that no honest operation is below. */
void syscost_expect(struct syscost_function *function, const char *what, double low, double high);

/* Says in op() that it has failed, and why. A failed operation never counts as a fast one: its row has this reason for a number. */
void syscost_fail(const char *why);

/* The program: does what the command line asks for, and returns its exit code. Call it last in main(), and nothing that takes long
 * before: it is called in each of the processes that measure. */
int syscost_main(void);

#ifdef __cplusplus
}
#endif

#endif
