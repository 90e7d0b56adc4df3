//! Communication over the network.
//!
//! Sockets: round trips, connections and throughput of TCP, UDP and ICMP. Without a far end all
//! rows are of the loopback device, which is the kernel's own work; with `--peer` the same rows
//! are measured against another machine that runs `syscost serve`.
//!
//! ## First look
//! - `net.tcp.round_trip{path=loopback,family=ipv4,cpus=same,wait=block,size=64}`: a small message
//!   there and back.
//! - `net.tcp.connect{path=loopback,family=ipv4,step=connect}`: opening a connection.
//! - `net.tcp.bandwidth{path=loopback,family=ipv4}`: bytes a second of one stream.
//! - `net.http{path=loopback,connection=kept}`: a request and its answer.
//!
//! ## Benchmarks
//! `tcp`, `udp` and `icmp` have round trips; `tcp` also `connect` and `close`, and with `udp` a
//! bandwidth. `loaded_latency` is a round trip beside a bulk transfer, `http` a whole request,
//! `model` what a byte and a message cost by all sizes together.
//!
//! ## Disturbances
//! Firewalls and traffic shaping work on loopback, too. Against another machine, the network's
//! other users, interrupt coalescing and frequency scaling at both ends; the document has the
//! facts of both.

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
