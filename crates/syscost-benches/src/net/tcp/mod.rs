//! Connections that carry a stream of bytes.

pub(crate) mod bandwidth;
pub(super) mod close;
pub(crate) mod connect;
pub(crate) mod ports;
pub(super) mod round_trip;
pub(crate) mod stream;
