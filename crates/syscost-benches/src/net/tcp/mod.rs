//! Connections that carry a stream of bytes.

mod stream;

pub(super) mod round_trip;
