//! The raw monotonic clock, through the vDSO.

use rustix::time::{ClockId, clock_gettime};

/// CLOCK_MONOTONIC_RAW, in ns.
#[inline]
pub(crate) fn monotonic_raw_ns() -> u64 {
    let now = clock_gettime(ClockId::MonotonicRaw);
    // Never negative: the clock starts at 0 when the machine does.
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
