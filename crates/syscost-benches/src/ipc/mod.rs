//! Inter-process communication.

pub(crate) mod bandwidth;
pub(crate) mod channel;
pub(crate) mod message;
mod pipe_alone;
mod round_trip;
pub(crate) mod traffic;
mod unix_connect;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "ipc",
    title: "talking between tasks",
    benchmarks: &[
        round_trip::BENCHMARK,
        pipe_alone::BENCHMARK,
        bandwidth::BENCHMARK,
        unix_connect::BENCHMARK,
    ],
    hidden: false,
};
