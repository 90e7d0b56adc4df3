//! Datagrams.

pub(super) mod round_trip;
