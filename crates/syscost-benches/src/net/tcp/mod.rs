//! Connections that carry a stream of bytes.

pub(super) mod stream;

pub(crate) mod bandwidth;
pub(super) mod round_trip;
