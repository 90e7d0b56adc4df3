//! Switching between tasks.

mod messaging;
mod ping_pong;
mod pipe;
mod ring;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "switch",
    title: "switching between tasks",
    benchmarks: &[pipe::BENCHMARK, ring::BENCHMARK, messaging::BENCHMARK],
    hidden: false,
};
