//! A block of memory from the C library, and back.
//!
//! ## Measures
//! One malloc and one free of the same block. `from=heap`: the block freed last is allocated again,
//! small ones from the thread's own cache, if there is one. `from=mmap`: the block is a separate
//! mapping, as are all blocks above a threshold (128 KiB at first in the GNU C library, which
//! raises it by itself; here it is set). `touched=yes` writes to each page. Blocks that are
//! allocated in the same way and kept must not overlap and must have the requested size, and malloc
//! and free must leave their content alone.
//! ## Does not measure
//! Blocks of many sizes that live for long, or threads that free each other's: that is where
//! allocators differ.
//! ## Interpretation
//! From the heap no system call is made, which is counted. A mapping costs two, and a fault for
//! each page touched, every time: for large buffers that come and go, keeping them (or a higher
//! M_MMAP_THRESHOLD) avoids all of that.
//! ## Source
//! malloc(3), mallopt(3).
#![allow(unsafe_code)] // malloc and free

use std::hint::black_box;

use rustix::param::page_size;
use syscost_harness::bencher::Pass;
use syscost_harness::prelude::*;
use syscost_sys::counters::TaskId;
use syscost_sys::memory::{enough_for, map_blocks_from};
use syscost_sys::perf::{Uses, Watch};

use super::space::no_huge::NoHugePages;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "malloc and free",
    tags: "heap, allocator, memory allocation, dynamic memory",
    ..Benchmark::of::<Malloc>()
};

/// Free blocks of the heap, occupied so that malloc has to map: what an earlier case freed would
/// otherwise serve this one.
struct Holes(Vec<*mut libc::c_void>);

/// Maximum number of holes to occupy: those of 32 MiB, more than any case here leaves.
const MAX_HOLES: usize = 128;

impl Holes {
    fn take(bytes: usize) -> Self {
        let mut holes = Self(Vec::with_capacity(MAX_HOLES));
        while holes.0.len() < MAX_HOLES {
            // SAFETY: malloc takes any number.
            let block = unsafe { libc::malloc(bytes) };
            // SAFETY: reads where the heap ends, and moves nothing.
            let end = unsafe { libc::sbrk(0) };
            // Mappings lie above the heap.
            if block.is_null() || block >= end {
                // SAFETY: it came from malloc, or is null.
                unsafe { libc::free(block) };
                break;
            }
            holes.0.push(block);
        }
        holes
    }
}

impl Drop for Holes {
    fn drop(&mut self) {
        // SAFETY: each came from malloc, and nothing uses it.
        self.0
            .iter()
            .for_each(|block| unsafe { libc::free(*block) });
    }
}

/// Blocks smaller than this come from the heap with any setting.
const SMALL: usize = 64 << 10;

/// Thresholds below and above all blocks here, in bytes.
const LOW: usize = 128 << 10;
const HIGH: usize = 32 << 20;

/// Where the block comes from.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Heap,
    Mmap,
}

#[derive(Params, Clone)]
struct Malloc {
    /// Bytes of the block.
    size: Bytes,
    from: Origin,
    /// Whether each page of it is written.
    touched: bool,
}

impl Measured for Malloc {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        use Origin::{Heap, Mmap};
        let [some, many] = [Bytes::kib(256), Bytes::mib(1)];
        let small = [Bytes(16), Bytes(64), Bytes::kib(1), some];
        [
            rows!(Malloc {
                size: small,
                from: [Heap],
                touched: [false]
            }),
            rows!(Malloc {
                size: [many],
                from: [Heap],
                touched: [true]
            }),
            rows!(Malloc {
                size: [some, many],
                from: [Mmap],
                touched: [false]
            }),
            rows!(Malloc {
                size: [many],
                from: [Mmap],
                touched: [true]
            }),
        ]
        .concat()
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match (self.from, self.size) {
            (_, Bytes(64)) => Profile::Quick,
            (Origin::Mmap, _) | (Origin::Heap, Bytes(1024)) => Profile::Standard,
            (Origin::Heap, _) => Profile::Full,
        }
    }

    fn proofs(&self) -> MallocProofs<Proof> {
        let page = page_size() as f64;
        // The allocator rounds up, never down. A block of its own is of whole pages.
        let more = match self.from {
            Origin::Heap => self.size.0 as f64 / 4.0 + 32.0,
            Origin::Mmap => 2.0 * page,
        };
        let usable = Bound::Within(self.size.0 as f64, self.size.0 as f64 + more);
        let faults = |pages: f64| within(Counter::MinorFaults, 0.99 * pages, 1.01 * pages);
        let writes = WRITTEN.within(match self.touched {
            true => Bound::Exactly(1.0),
            // The allocator writes some of them.
            false => Bound::AtMost(0.5),
        });
        MallocProofs {
            size: USABLE.within(usable),
            from: Proof::counted(match self.from {
                Origin::Heap => vec![],
                Origin::Mmap => vec![calls(Sysno::MMAP), calls(Sysno::MUNMAP)],
            }),
            touched: writes.and(Proof::counted(match (self.from, self.touched) {
                (Origin::Heap, _) => vec![],
                // The allocator's header of a mapped block is in its first page.
                (Origin::Mmap, false) => vec![faults(1.0)],
                (Origin::Mmap, true) => vec![faults(self.size.0 as f64 / page)],
            })),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let bytes = self.size.get();
        let (is_mapped, is_touched) = (self.from == Origin::Mmap, self.touched);
        enough_for(bytes)?;
        match is_mapped {
            // A C library without the setting has a low threshold by default; the calls are counted.
            true => map_blocks_from(LOW).unwrap_or(()),
            false if bytes >= SMALL => map_blocks_from(HIGH)?,
            false => {}
        }
        let _taken = is_mapped.then(|| Holes::take(bytes));
        let _small = NoHugePages::in_this_process();
        let step = page_size();
        let take = || {
            // SAFETY: malloc takes any number.
            let block = black_box(unsafe { libc::malloc(bytes) }).cast::<u8>();
            if block.is_null() {
                return Err("malloc gave nothing");
            }
            if is_touched {
                for offset in (0..bytes).step_by(step) {
                    // SAFETY: within the block.
                    unsafe { block.add(offset).write_volatile(1) };
                }
            }
            Ok(block)
        };
        // SAFETY: `take` returned the block, and nothing uses it any more.
        let give = |block: *mut u8| unsafe { libc::free(block.cast()) };
        let once = || take().map(give);
        // Two calls and their look-ups; no core stores to more than four pages per cycle.
        let stores = if is_touched { bytes / step } else { 0 };
        plan.expect(costs(Counter::CoreCycles, 6.0 + stores as f64 / 4.0));
        let failed = |cause: &str| Failure::Failed(cause.into());
        once().map_err(failed)?;
        let mut outcome = plan.measure(Loop::each(once))?;
        if !outcome.is_timed() {
            // The next block is where the last one was.
            let last = match (is_mapped, is_touched) {
                (false, true) => {
                    let block = take().map_err(failed)?;
                    give(block);
                    Some(block.wrapping_add((bytes - 1) / step * step))
                }
                (true, _) | (false, false) => None,
            };
            claim_watched(&mut outcome, last, || once().map_err(failed))?;
        }
        if outcome.is_timed() {
            // Keeping blocks would change what the allocator returns next.
            return Ok(outcome);
        }
        if !is_mapped {
            let left = Left::of(bytes, is_touched, take, give).map_err(failed)?;
            left.claim(&mut outcome);
        }
        look_at_usable(&mut outcome, take().map_err(failed)?, give);
        let first = Kept::of(bytes, take, give).map_err(failed)?;
        // What the first ones left written is gone, so a second time shows who writes.
        let mut kept = Kept::of(bytes, take, give).map_err(failed)?;
        kept.touched = kept.touched.min(first.touched);
        kept.claim(&mut outcome, bytes);
        outcome.observe(&WRITTEN, kept.share_touched(bytes));
        Ok(outcome)
    }
}

static USABLE: Witness =
    Witness::of("bytes of a block that may be used", "malloc_usable_size").only_in(Pass::Evidence);
static WRITTEN: Witness =
    Witness::of("share of a block's pages that are written", "memory").only_in(Pass::Evidence);

/// Looks how long a block is.
fn look_at_usable(b: &mut Bencher, block: *mut u8, give: impl Fn(*mut u8)) {
    // SAFETY: the block came from malloc, and has not been freed yet.
    let usable = unsafe { libc::malloc_usable_size(block.cast()) };
    give(block);
    b.observe(&USABLE, usable);
}

/// Number of operations whose calls and stores the processor counts.
const WATCHED: u64 = 64;

/// Claims that the timed operation calls malloc and free once each, and writes to the last page of
/// its block if the case says so: the processor counts it, where the kernel permits that. Otherwise
/// the blocks that are kept suffice as a witness.
fn claim_watched(
    b: &mut Bencher,
    last_page: Option<*mut u8>,
    once: impl Fn() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let malloc = (libc::malloc as *const u64, Uses::Calls, "calls of malloc");
    let free = (libc::free as *const u64, Uses::Calls, "calls of free");
    let page = last_page.map(|page| {
        (
            page.cast_const().cast(),
            Uses::Stores,
            "stores to its last page",
        )
    });
    // The page first: a claim allocates memory, and the block moves.
    for (place, uses, what) in page.into_iter().chain([malloc, free]) {
        let Ok(watch) = Watch::of(TaskId::own(), place, uses) else {
            return Ok(());
        };
        (0..WATCHED).try_for_each(|_| once())?;
        let seen = watch.count().map_err(Unsupported::from)?;
        let claim = format!("{what} in {WATCHED} operations");
        b.claim_equal(&claim, WATCHED, seen, "debug register");
    }
    Ok(())
}

/// Bytes at the beginning of a free block that may hold free-list pointers: four pointers in the
/// GNU C library.
const LISTED: usize = 4 * size_of::<usize>();

/// The byte with which a block is filled before it is freed.
const MARK: u8 = 0xA5;

/// How often a block is allocated, filled and freed.
const FILLINGS: usize = 8;

/// Observations of blocks that were allocated again.
#[derive(Debug, Default, PartialEq)]
struct Left {
    /// Blocks that had been allocated before.
    again: usize,
    /// Bytes of these that changed, except for those of free lists and those that the operation writes to.
    changed: usize,
}

impl Left {
    fn of<E>(
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
    fn claim(&self, b: &mut Bencher) {
        if self.again > 0 {
            let what = "bytes of a block that malloc and free changed";
            b.claim_equal(what, 0, self.changed, "memory");
        }
    }
}

/// Number of blocks that are allocated before one is freed.
const BLOCKS: usize = 16;

/// Observations of blocks that were all in use simultaneously.
struct Kept {
    /// How many of them do not overlap any other.
    apart: usize,
    /// The minimum and maximum usable size of a block, in bytes, according to the allocator.
    usable: (usize, usize),
    /// Pages written to.
    touched: usize,
}

impl Kept {
    fn of<E>(
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
    fn claim(&self, b: &mut Bencher, bytes: usize) {
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
    fn share_touched(&self, bytes: usize) -> f64 {
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
