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
#![allow(unsafe_code)] // the C library's syscall function

use std::hint::black_box;

use syscost_harness::prelude::*;

use super::super::callee::repeat;
use super::median_of_runs;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.call_and_switch.system_call",
    title: "System call, as published",
    tags: &["syscall", "null system call", "kernel entry"],
    expect: &[calls(Sysno::GETPID), at_most(Counter::OtherSyscalls, 0.0)],
    run,
    source: include_str!("system_call.rs"),
    ..Benchmark::DEFAULT
};

/// System calls in a turn of the loop.
const PER_TURN: u64 = 32;

/// Turns of a loop.
const TURNS: u64 = 500;

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let calls = TURNS * PER_TURN;
    b.as_published(calls * super::RUNS as u64, || {
        let calls_of_a_turn = || {
            for _ in 0..PER_TURN {
                // SAFETY: getpid takes nothing and touches no memory.
                black_box(unsafe { libc::syscall(libc::SYS_getpid) });
            }
        };
        let empty_turn = || {
            for number in 0..PER_TURN {
                black_box(number);
            }
        };
        let without = || repeat(TURNS, empty_turn);
        let with = || repeat(TURNS, calls_of_a_turn);
        Ok(median_of_runs(calls, without, with))
    })
}
