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
pub(crate) mod workers;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = group! {
    net: "talking over the network",
    tcp::round_trip,
    udp::round_trip,
    icmp::round_trip,
    tcp::connect,
    tcp::close,
    tcp::bandwidth,
    udp::bandwidth,
    loaded_latency,
    http,
    model,
};
