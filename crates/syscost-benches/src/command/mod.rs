//! Commands of the user's own, which `syscost time` measures: each run is a fresh process, from its start to
//! its end, with all that it starts.
//!
//! ## Benchmarks
//! `command.cpu` runs them; `command.wall` and `command.memory` are what else was seen of the same runs.

mod cpu;
pub mod execute;
mod memory;
mod wall;

use syscost_harness::prelude::*;

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
