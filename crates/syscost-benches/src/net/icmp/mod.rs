//! ICMP echoes, answered by the kernel at the other end.

pub(crate) mod ping;
pub(super) mod round_trip;
