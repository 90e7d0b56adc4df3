//! Communication over the network.

mod connection_cpus;
pub(crate) mod connections;
pub(crate) mod counters;
pub(crate) mod exchange;
pub(crate) mod far_end;
mod http;
pub(crate) mod icmp;
pub(crate) mod interface;
mod loaded_latency;
mod model;
mod round_trip;
pub(crate) mod tcp;
mod transfer;
mod udp;
pub(crate) mod waiting;
mod windows;
pub(crate) mod workers;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "net",
    title: "talking over the network",
    benchmarks: &[
        tcp::round_trip::BENCHMARK,
        udp::round_trip::BENCHMARK,
        icmp::round_trip::BENCHMARK,
        tcp::connect::BENCHMARK,
        tcp::close::BENCHMARK,
        tcp::bandwidth::BENCHMARK,
        udp::bandwidth::BENCHMARK,
        loaded_latency::BENCHMARK,
        http::BENCHMARK,
        model::BENCHMARK,
    ],
    hidden: false,
};
