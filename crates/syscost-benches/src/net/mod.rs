//! Talking over the network.

mod icmp;
mod loaded_latency;
mod model;
mod path;
mod seats;
mod tcp;
mod udp;
mod workers;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "net",
    title: "talking over the network",
    benchmarks: &[
        tcp::bandwidth::BENCHMARK,
        udp::bandwidth::BENCHMARK,
        loaded_latency::BENCHMARK,
        model::BENCHMARK,
    ],
    hidden: false,
};
