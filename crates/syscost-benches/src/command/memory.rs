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

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "A command of your own: peak memory",
    tags: "hyperfine, time, resident set size, maxrss",
    unit: Unit::Bytes,
    ..Benchmark::computed::<PeakMemory>()
};

#[derive(Params, Clone)]
struct PeakMemory {
    /// The command.
    command: String,
}

impl Computed for PeakMemory {
    const FROM: &'static [&'static str] = &["command.cpu"];

    const DEPENDS_ON_MACHINE: bool = true;

    const SERIES: Option<&'static str> = Some("peak_bytes");

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        let names = here.commands.iter().map(|one| one.name.clone());
        rows!(PeakMemory {
            command: names.collect::<Vec<_>>()
        })
    }

    fn takes(&self, other: &syscost_harness::Row) -> bool {
        other.case.find("command") == Some(&*self.command)
    }
}
