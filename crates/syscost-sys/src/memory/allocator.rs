//! The C library's allocator.

use crate::counters::TaskId;
use crate::perf::{Uses, Watch};
use crate::{SystemError, Unsupported, os};

/// From now on malloc gives each block of this many bytes or more a mapping of its own, and takes
/// smaller ones from its heap, which keeps what is freed. Without this the GNU C library raises the
/// threshold by itself, as it sees large blocks freed.
///
/// # Errors
/// `Unsupported` where the C library has no such setting, or refuses this one.
pub fn map_blocks_from(bytes: usize) -> Result<(), Unsupported> {
    os::map_blocks_from(bytes)
        .map_err(|cause| Unsupported::new(format!("mallopt of {bytes} bytes: {cause}")))
}

/// How often the calling thread allocates: calls of what allocates in C, C++ and Rust (`malloc`, `calloc`, `realloc`,
/// `posix_memalign`, as many as there are debug registers), counted by the processor. Nothing stands in the allocator's way
/// otherwise, as a counting allocator would.
#[derive(Debug)]
pub struct Allocations(Vec<Watch>);

impl Allocations {
    /// Counts from now on.
    ///
    /// # Errors
    /// As [`Watch::of`].
    pub fn begin() -> Result<Self, Unsupported> {
        let own = TaskId::own();
        let watches = os::allocators().map(|place| Watch::of(own, place, Uses::Calls));
        watches.into_iter().collect::<Result<_, _>>().map(Self)
    }

    /// The number so far; a block that one of them has another allocate counts twice.
    ///
    /// # Errors
    /// As [`Watch::count`].
    pub fn count(&self) -> Result<u64, SystemError> {
        self.0.iter().map(Watch::count).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    #[test]
    fn every_block_is_one_allocation() {
        let counted = or_skip!(Allocations::begin());
        let before = counted.count().expect("readable");
        for bytes in 1..=10_usize {
            let mut block = black_box(Vec::<u8>::with_capacity(bytes));
            block.reserve_exact(100);
        }
        let after = counted.count().expect("readable");
        assert_eq!(after - before, 20);
    }

    #[test]
    fn a_threshold_beyond_all_blocks_is_refused() {
        or_skip!(map_blocks_from(1 << 20));
        assert!(map_blocks_from(1 << 40).is_err());
    }
}
