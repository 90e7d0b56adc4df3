//! How long a command of the user's own takes.
//!
//! ## Measures
//! The time from the call that starts the command until its end is seen, of the runs of `command.cpu`: CPU time, and all
//! that it waits for: files, sleeps, other programs that have its CPU.
//! ## Does not measure
//! What it leaves running when it ends: such a command is refused.
//! ## Interpretation
//! Where it is much longer than the CPU time of a command with one task, the command slept, or others had its CPU:
//! `waited_percent` of `command.cpu` tells how much of it that was.
//! ## Source
//! `hyperfine`, `time`, `perf stat`.

use syscost_harness::prelude::*;

use super::OfCommand;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "A command of your own: elapsed time",
    tags: "hyperfine, time, wall clock",
    ..Benchmark::computed::<OfCommand>().taking("wall_ns")
};
