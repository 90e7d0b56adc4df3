//! Commands of the user's own, which `syscost time` measures: each run is a fresh process, from its start to
//! its end, with all that it starts.
//!
//! ## Benchmarks
//! `command.cpu` runs them; `command.wall` and `command.memory` are what else was seen of the same runs.

mod cpu;
pub mod execute;
mod memory;
mod wall;

use syscost_harness::Row;
use syscost_harness::prelude::*;
use syscost_results::RoundSamples;

use cpu::CpuTime;

pub(crate) const GROUP: Group = Group {
    name: "command",
    title: "commands of your own",
    source: doc!("mod.rs"),
    benchmarks: &[
        benchmark!(command::cpu),
        benchmark!(command::wall),
        benchmark!(command::memory),
    ],
    hidden: true,
};

/// The names of the commands that are measured.
fn names(here: &Testbed) -> Vec<String> {
    let names = here.commands.iter().map(|one| one.name.clone());
    names.collect()
}

/// Another quantity of the runs of a round of `command.cpu`.
fn seen(round: &RoundSamples, name: &str) -> RoundSamples {
    RoundSamples {
        values: round.also.get(name).cloned().unwrap_or_default(),
        also: Default::default(),
        ..round.clone()
    }
}

/// What else was seen of the runs of `command.cpu`.
#[derive(Params, Clone)]
struct OfCommand {
    /// The command.
    command: String,
}

impl Computed for OfCommand {
    const FROM: &'static [&'static str] = &["command.cpu"];

    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(OfCommand {
            command: names(here)
        })
    }

    fn takes(&self, other: &Row) -> bool {
        let source: Option<&CpuTime> = other.case.row();
        source.is_some_and(|source| source.command == self.command)
    }
}
