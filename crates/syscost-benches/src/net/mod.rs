//! Talking over the network.

mod icmp;
mod tcp;
mod udp;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = Group {
    name: "net",
    title: "talking over the network",
    benchmarks: &[],
    hidden: false,
};
