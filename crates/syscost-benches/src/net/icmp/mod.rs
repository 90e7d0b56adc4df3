//! Echoes of the kernel at the other end.

mod ping;
pub(super) mod round_trip;
