//! Inter-process communication.

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
