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
use syscost_results::RoundSamples;
use syscost_results::measurement::{Cause, Disturbance};

use super::execute::{WAITED, WALL};
use super::{OfCommand, seen};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "A command of your own: elapsed time",
    tags: "hyperfine, time, wall clock",
    ..Benchmark::computed::<OfCommand>().taking(elapsed)
};

/// Maximum share of its time that an undisturbed run waits for the CPU, as of other rows.
const MAX_WAITED: f64 = 0.1;

/// The elapsed times of a round: unlike CPU time, it contains what a run waited for the CPU.
fn elapsed(round: &RoundSamples) -> RoundSamples {
    let mut samples = seen(round, WALL);
    let waited = round.also.get(WAITED).into_iter().flatten();
    let shares = waited
        .zip(&samples.values)
        .map(|(waited, all)| waited / all);
    let late = (0..).zip(shares).filter(|(_, share)| *share > MAX_WAITED);
    let tags = late.map(|(sample, _)| Disturbance {
        sample,
        cause: Cause::RunDelay,
    });
    samples.disturbed.extend(tags.collect::<Vec<_>>());
    samples
}
