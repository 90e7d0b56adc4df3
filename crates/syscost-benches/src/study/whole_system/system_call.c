//! A minimum system call, as the whole-system experiment timed it.
//!
//! ## Measures
//! A loop of calls of the C library's getpid, 20 000 of them between CPUID and RDTSC before and RDTSCP and
//! CPUID after, per call; the mean of 10 such trials. The program is compiled without optimisation.
//! Which system call it was is not published, and a trial had 1 000 000, as it has here in a study that is
//! run with `--thorough`.
//! ## Does not measure
//! A system call that does something. An undisturbed call: the text does not look at what else ran
//! on the core. Here the undisturbed results are shown next to all of them.
//! ## Interpretation
//! Compare with `syscall.null{call=getpid,via=libc}`. Both ways time many calls together, so they should
//! agree.
//! ## Source
//! The whole-system experiment, CPU (docs/studies/whole-system.md).
#include "trials.h"

int main(int argc, char **argv)
{
    int calls = argc > 1 ? atoi(argv[1]) : MANY;
    volatile pid_t id;

    begin();
    TEN_TRIALS_OF(calls, id = getpid());
    end();

    (void)id;
    say_mean(TRIALS, "ticks");
    return 0;
}
