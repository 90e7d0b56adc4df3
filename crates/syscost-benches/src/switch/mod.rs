//! Switching between tasks.

mod ping_pong;
mod pipe;
mod wakeup;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "switch",
    title: "switching between tasks",
    benchmarks: &[pipe::BENCHMARK, wakeup::BENCHMARK],
    hidden: false,
};
