//! Datagrams.

pub(super) mod bandwidth;
