//! Datagrams.

pub(super) mod bandwidth;
pub(super) mod round_trip;
