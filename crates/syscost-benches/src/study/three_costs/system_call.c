//! getpid and setuid, as the three-costs experiment timed them.
//!
//! ## Measures
//! A pair of `rdtsc` around each single call, less the mean of pairs with nothing between them, 10 000
//! times in a loop compiled without optimisation, as the text's was; the mean, and of three such runs the
//! mean. `getpid_cached` is a model of the C library of those years, whose getpid asks the kernel once and then
//! reads a variable; `getpid` enters the kernel each time, which shows what the figure would have been. The
//! user that setuid was given is not published: here it is the caller's own.
//! ## Does not measure
//! A system call, in the case of `getpid_cached`: of 10 000 calls one enters the kernel, and it is
//! not visible which.
//! ## Interpretation
//! Compare with `syscall.null{call=getpid}` and `syscall.setuid`. The detail `first_operation_ns` is the
//! first call of the process, which the text found slower than the others. Single calls shorter than a pair
//! of readings come out as zero or less (`zero_or_less_percent`).
//! ## Source
//! The three-costs experiment, section 3.1 (docs/studies/three-costs.md).
#include "pairs.h"

#include <sys/syscall.h>
#include <unistd.h>

/* A model of getpid in a C library that remembers its answer, as glibc's did from 2.3.4 to 2.24: the first
 * call asks the kernel, all others read a variable. */
static pid_t known;

static pid_t getpid_cached(void)
{
    if (known == 0)
        known = syscall(SYS_getpid);
    return known;
}

int main(int argc, char **argv)
{
    const char *call = argc > 1 ? argv[1] : "getpid";
    uid_t user = getuid();
    double overhead, mean = 0, sum = 0;
    int run;

    if (user != geteuid())
        unsupported("the program runs set-user-id: setuid would give up its rights");
    begin();
    overhead = pair_overhead();
    for (run = 0; run < RUNS; run++) {
        known = 0;
        if (!strcmp(call, "getpid_cached"))
            RUN(mean, ITERATIONS, overhead, getpid_cached(), );
        else if (!strcmp(call, "getpid"))
            RUN(mean, ITERATIONS, overhead, syscall(SYS_getpid), );
        else if (!strcmp(call, "setuid"))
            RUN(mean, ITERATIONS, overhead, setuid(user), );
        else
            unsupported("getpid_cached, getpid or setuid");
        sum += mean;
    }
    end();

    result(sum / RUNS, "ticks");
    say_spread(ITERATIONS, overhead);
    say_difference();
    return 0;
}
