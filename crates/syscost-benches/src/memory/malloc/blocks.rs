//! What blocks of memory show of the allocator that returned them.

use std::hint::black_box;

use rustix::param::page_size;
use syscost_harness::prelude::*;

/// Bytes at the beginning of a free block that may hold free-list pointers: four pointers in the
/// GNU C library.
const LISTED: usize = 4 * size_of::<usize>();

/// The byte with which a block is filled before it is freed.
const MARK: u8 = 0xA5;

/// How often a block is allocated, filled and freed.
const FILLINGS: usize = 8;

/// Observations of blocks that were allocated again.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Left {
    /// Blocks that had been allocated before.
    again: usize,
    /// Bytes of these that changed, except for those of free lists and those that the operation writes to.
    changed: usize,
}

impl Left {
    pub(super) fn of<E>(
        bytes: usize,
        is_touched: bool,
        take: impl Fn() -> Result<*mut u8, E>,
        give: impl Fn(*mut u8),
    ) -> Result<Self, E> {
        let mut filled: Vec<*mut u8> = Vec::with_capacity(FILLINGS);
        let mut left = Self::default();
        for _ in 0..FILLINGS {
            let block = take()?;
            let looked_at =
                (LISTED..bytes).filter(|offset| !is_touched || !offset.is_multiple_of(page_size()));
            if filled.contains(&block) {
                // SAFETY: within the block, which was filled.
                let is_changed =
                    |offset: &usize| unsafe { block.add(*offset).read_volatile() } != MARK;
                left.again += 1;
                left.changed += looked_at.filter(is_changed).count();
            } else {
                filled.push(block);
            }
            // SAFETY: the block has this many bytes.
            unsafe { black_box(block).write_bytes(MARK, bytes) };
            black_box(block);
            give(block);
        }
        Ok(left)
    }

    /// Claims that malloc and free leave a block's content alone, if any block was allocated again:
    /// settings like MALLOC_PERTURB_ overwrite all of it.
    pub(super) fn claim(&self, b: &mut Bencher) {
        if self.again > 0 {
            let what = "bytes of a block that malloc and free changed";
            b.claim_equal(what, 0, self.changed, "memory");
        }
    }
}

/// Number of blocks that are allocated before one is freed.
const BLOCKS: usize = 16;

/// Observations of blocks that were all in use simultaneously.
pub(super) struct Kept {
    /// How many of them do not overlap any other.
    apart: usize,
    /// The minimum and maximum usable size of a block, in bytes, according to the allocator.
    usable: (usize, usize),
    /// Pages written to.
    pub(super) touched: usize,
}

impl Kept {
    pub(super) fn of<E>(
        bytes: usize,
        take: impl Fn() -> Result<*mut u8, E>,
        give: impl Fn(*mut u8),
    ) -> Result<Self, E> {
        let mut blocks = Vec::with_capacity(BLOCKS);
        for _ in 0..BLOCKS {
            blocks.push(take()?);
        }
        blocks.sort_unstable();
        // SAFETY: malloc gave them.
        let usable = blocks
            .iter()
            .map(|block| unsafe { libc::malloc_usable_size(block.cast()) });
        let usable: Vec<usize> = usable.collect();
        let far = |pair: &&[*mut u8]| pair[1].addr() - pair[0].addr() >= bytes;
        let apart = 1 + blocks.windows(2).filter(far).count();
        let mut touched = 0;
        for (block, usable) in blocks.iter().zip(&usable) {
            for offset in (0..bytes.min(*usable)).step_by(page_size()) {
                // SAFETY: within the block; a page that was not written to holds 0, or what it held before.
                touched += usize::from(unsafe { block.add(offset).read_volatile() } == 1);
                // SAFETY: as before.
                unsafe { block.add(offset).write_volatile(0) };
            }
        }
        blocks.dedup();
        blocks.into_iter().for_each(give);
        Ok(Self {
            apart,
            usable: (
                usable.iter().copied().min().unwrap_or(0),
                usable.iter().copied().max().unwrap_or(0),
            ),
            touched,
        })
    }

    /// Claims that they were blocks of this many bytes, none of which overlap.
    pub(super) fn claim(&self, b: &mut Bencher, bytes: usize) {
        let what = format!("of {BLOCKS} blocks in use, those apart from the others");
        b.claim_equal(&what, BLOCKS, self.apart, "addresses");
        let (fewest, most) = self.usable;
        let limit = bytes + bytes / 4 + 64;
        b.claim(
            "bytes that may be used of a block",
            format!("{bytes} to {limit}"),
            format!("{fewest} to {most}"),
            "malloc_usable_size",
            bytes <= fewest && most <= limit,
        );
    }

    /// The share of the pages of these blocks, of this many bytes each, that was written to.
    pub(super) fn share_touched(&self, bytes: usize) -> f64 {
        self.touched as f64 / (BLOCKS * bytes.div_ceil(page_size())) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block from `malloc`, written to or not.
    fn taken(bytes: usize, is_touched: bool) -> *mut u8 {
        // SAFETY: any number will do, and the bytes written are within the block.
        unsafe {
            let block = libc::malloc(bytes).cast::<u8>();
            if is_touched {
                for offset in (0..bytes).step_by(page_size()) {
                    block.add(offset).write(1);
                }
            }
            block
        }
    }

    fn kept(bytes: usize, take: impl Fn() -> *mut u8) -> Kept {
        // SAFETY: the blocks are from malloc.
        let give = |block: *mut u8| unsafe { libc::free(block.cast()) };
        Kept::of(bytes, || Ok::<_, ()>(take()), give).unwrap()
    }

    #[test]
    fn an_allocator_that_writes_to_its_blocks_is_detected() {
        // SAFETY: the blocks are from malloc.
        let give = |block: *mut u8| unsafe { libc::free(block.cast()) };
        for bytes in [16, 64, 1024] {
            let honest = Left::of(bytes, false, || Ok::<_, ()>(taken(bytes, false)), give);
            assert_eq!(honest.unwrap().changed, 0, "{bytes}");
        }
        let one = taken(1024, false);
        let zeroed = || {
            // SAFETY: the block has this many bytes.
            unsafe { one.write_bytes(0, 1024) };
            Ok::<_, ()>(one)
        };
        let left = Left::of(1024, false, zeroed, |_| ()).unwrap();
        let expected = Left {
            again: FILLINGS - 1,
            changed: (FILLINGS - 1) * (1024 - LISTED),
        };
        assert_eq!(left, expected);
        give(one);
    }

    #[test]
    fn blocks_that_are_shared_or_short_or_untouched_are_detected() {
        for bytes in [16, 1024, 1 << 20] {
            let honest = kept(bytes, || taken(bytes, true));
            assert_eq!(honest.apart, BLOCKS);
            assert_eq!(honest.share_touched(bytes), 1.0);
            assert!(
                (bytes..bytes + bytes / 4 + 64).contains(&honest.usable.0),
                "{bytes}"
            );
        }
        let one = taken(1024, false);
        assert_eq!(kept(1024, || one).apart, 1);
        let half = kept(1 << 20, || taken(1 << 19, true));
        assert!(half.usable.0 < 1 << 20);
        // What earlier blocks had written does not count.
        assert_eq!(kept(1 << 20, || taken(1 << 20, false)).touched, 0);
    }
}
