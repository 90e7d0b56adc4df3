//! Inter-process communication.
//!
//! Moving data between two tasks: how long a message takes there and back, and how many bytes a
//! second go through pipes, sockets, queues and shared memory.
//!
//! ## First look
//! - `ipc.round_trip{via=pipe,between=processes,cpus=same,size=1}`: a byte there and back.
//! - `ipc.round_trip{via=unix_stream}`: the same through a local socket.
//! - `ipc.bandwidth{via=pipe,between=processes,cpus=same,size=64K}`: bytes a second through a
//!   pipe.
//! - `ipc.pipe_alone{size=1}`: a write and a read without a partner, so without any switch.
//!
//! ## Benchmarks
//! `round_trip` and `bandwidth` have a row for each means, size and placement of the two tasks;
//! `pipe_alone` is the data's own cost; `unix_connect` a new connection. Small messages on one
//! processor are mostly switches: subtract `switch.pipe`.
//!
//! ## Disturbances
//! As for `switch`: placement, idle states and the hypervisor. Bandwidths depend on whether the
//! data stay in a cache that both tasks share.

pub(crate) mod bandwidth;
pub(crate) mod channel;
pub(crate) mod message;
mod pipe_alone;
mod round_trip;
pub(crate) mod traffic;
mod unix_connect;

use syscost_harness::prelude::*;

pub(crate) const GROUP: Group = group! {
    ipc: "talking between tasks",
    round_trip,
    pipe_alone,
    bandwidth,
    unix_connect,
};
