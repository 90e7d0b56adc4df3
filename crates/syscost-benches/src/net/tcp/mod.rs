//! Connections that carry a stream of bytes.

pub(super) mod bandwidth;
