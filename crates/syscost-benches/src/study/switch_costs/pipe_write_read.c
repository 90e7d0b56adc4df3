//! One process that writes a byte into a pipe and reads it back, as the switch-costs experiment timed it.
//!
//! ## Measures
//! 100 000 times a write of one byte into a pipe and its read by the same process, per pair; the loop is
//! not subtracted. By which clock is not published: here the CPU time of the process, as in that text's
//! other loops.
//! ## Does not measure
//! A switch: the byte is in the pipe before it is read.
//! ## Interpretation
//! Compare with `syscall.write_null` and `syscall.read_zero`: two system calls, and the pipe's lock, page
//! and wake-up list.
//! ## Source
//! The switch-costs experiment, "Read & Write overhead" (docs/studies/switch-costs.md).
#include "loops.h"

int main(int argc, char **argv)
{
    long turns = argc > 1 ? atol(argv[1]) : 100000;
    int ends[2];
    char byte = '.';
    double ns;

    if (pipe(ends))
        failed("make a pipe");
    begin();
    CPU_TIME_OF(ns, turns, if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1) failed("pass a byte through a pipe"));
    end();

    result(ns, "ns");
    return 0;
}
