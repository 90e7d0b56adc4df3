//! The minimum system call, as the switch-costs experiment timed it.
//!
//! ## Measures
//! A loop with the call less the same loop without, by the CPU time of the process, per turn. Which call it
//! was is not published; only one that the C library answers itself can take 0.9 ns. `getpid=cached` is a
//! model of it: getpid of an old C library, which asks the kernel once and then returns what it remembers.
//! `getpid=entered` is the same procedure with the C library's getpid of today, which always asks. The
//! program is compiled without optimisation, as the text's was. Published are 100 000 000 turns; here 10
//! 000 000 of the cached call and 20 000 of the other.
//! ## Does not measure
//! With `getpid=cached`, any system call: none is made.
//! ## Interpretation
//! Compare with `syscall.null{call=getpid}`.
//! ## Source
//! The switch-costs experiment, "Cost of minimum system call" (docs/studies/switch-costs.md).
#include "loops.h"

#include <sys/syscall.h>

/* getpid as C libraries had it until 2017: one system call, and from then on a load and a comparison. */
static pid_t remembered;

static pid_t cached_getpid(void)
{
    if (remembered == 0)
        remembered = syscall(SYS_getpid);
    return remembered;
}

int main(int argc, char **argv)
{
    int is_cached = argc < 2 || !strcmp(argv[1], "cached");
    long turns = argc > 2 ? atol(argv[2]) : 10000000;
    double without, with;

    cached_getpid(); /* the only call of it that enters the kernel */
    begin();
    CPU_TIME_OF(without, turns, );
    if (is_cached)
        CPU_TIME_OF(with, turns, cached_getpid());
    else
        CPU_TIME_OF(with, turns, getpid());
    end();

    result(with - without, "ns");
    fact("empty_turn", without, "ns");
    fact("turn_with_call", with, "ns");
    return 0;
}
