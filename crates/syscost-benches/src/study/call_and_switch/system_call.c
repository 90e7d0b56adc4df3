//! getpid, as the call-and-switch experiment timed it.
//!
//! ## Measures
//! A loop with 32 system calls a turn, less the same loop without, less two readings of the timer, per
//! call; the median of 21 such results, rounded to one decimal. The calls go through the C library's
//! syscall function, as published. How many turns the loop made is not published: here 500.
//! ## Does not measure
//! An undisturbed call: the text does not look at what else ran on the core. Here the undisturbed results
//! are shown next to all of them.
//! ## Interpretation
//! Compare with `syscall.null{call=getpid}`. Both ways time many calls together, so they should agree.
//! ## Source
//! The call-and-switch experiment, part 2 (docs/studies/call-and-switch.md).
#include "runs.h"

#include <sys/syscall.h>

#define RUNS 21
#define TURNS 500
#define PER_TURN 32

int main(void)
{
    double results[RUNS], timer, base, with;
    int run, call;

    timer = timer_ns(); /* which sorts, and the C library asks for the memory's size */
    begin();
    for (run = 0; run < RUNS; run++) {
        TIME(base, TURNS, for (call = 0; call < PER_TURN; call++) __asm__ volatile(""));
        TIME(with, TURNS, for (call = 0; call < PER_TURN; call++) syscall(SYS_getpid));
        results[run] = (with - base - 2 * timer) / (TURNS * PER_TURN);
    }
    end();

    result(rounded(median(results, RUNS)), "ns");
    return 0;
}
