//! Connections that carry a stream of bytes.

pub(super) mod stream;

pub(super) mod bandwidth;
pub(super) mod round_trip;
