//! The most memory that a command of the user's own had.
//!
//! ## Measures
//! The peak of the resident memory of the largest of its processes (`ru_maxrss` of wait4), in the runs of `command.cpu`.
//! ## Does not measure
//! The sum over several processes. Less than the process that starts it had: the kernel counts that of a child before it
//! executes the command.
//! ## Interpretation
//! It varies by some pages with the layout of the address space.
//! ## Source
//! GNU `time -v`, getrusage(2).

use syscost_harness::prelude::*;
use syscost_results::Unit;

use super::execute::PEAK;
use super::{OfCommand, seen};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "A command of your own: peak memory",
    tags: "hyperfine, time, resident set size, maxrss",
    unit: Unit::Bytes,
    ..Benchmark::computed::<OfCommand>().taking(|round| seen(round, PEAK))
};
