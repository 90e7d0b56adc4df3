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

/// How often the calling thread allocates by some of the functions that do, counted by the processor's debug
/// registers. Nothing stands in the allocator's way otherwise, as a counting allocator would.
#[derive(Debug)]
pub struct Allocations(Vec<Watch>);

impl Allocations {
    /// Number of groups into which these functions (`malloc`, `calloc`, `realloc`, `posix_memalign`;
    /// `aligned_alloc`, `memalign`,
    /// `valloc`) come, since there are four registers. What is counted is done once for each.
    pub const GROUPS: usize = 2;

    /// Counts the calls of a group from now on.
    pub fn begin(group: usize) -> Result<Self, Unsupported> {
        let own = TaskId::own();
        let places: [_; Self::GROUPS] = os::allocators();
        let watches = places[group].iter();
        let watches = watches.map(|place| Watch::of(own, *place, Uses::Calls));
        watches.collect::<Result<_, _>>().map(Self)
    }

    /// The number so far; a block that one of them has another allocate counts twice.
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
        for (group, expected) in [(0, 20), (1, 0)] {
            let counted = or_skip!(Allocations::begin(group));
            let before = counted.count().expect("readable");
            for bytes in 1..=10_usize {
                let mut block = black_box(Vec::<u8>::with_capacity(bytes));
                block.reserve_exact(100);
            }
            let after = counted.count().expect("readable");
            assert_eq!(after - before, expected);
        }
    }

    #[test]
    fn a_threshold_beyond_all_blocks_is_refused() {
        or_skip!(map_blocks_from(1 << 20));
        assert!(map_blocks_from(1 << 40).is_err());
    }
}
