//! Talking over the network.

pub(crate) mod backlog;
pub(crate) mod counters;
pub(crate) mod exchange;
pub(crate) mod far_end;
mod http;
mod icmp;
pub(crate) mod interface;
pub(crate) mod setting;
pub(crate) mod tcp;
mod udp;
pub(crate) mod waiting;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "net",
    title: "talking over the network",
    benchmarks: &[
        tcp::round_trip::BENCHMARK,
        udp::round_trip::BENCHMARK,
        icmp::round_trip::BENCHMARK,
        tcp::connect::BENCHMARK,
        http::BENCHMARK,
    ],
    hidden: false,
};
