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
use syscost_harness::prelude::*;
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
        if outcome.is_timed() {
            // Keeping blocks would change what the allocator returns next.
            return Ok(outcome);
        }
        claim_calls(&mut outcome, || once().map_err(failed))?;
        let block = take().map_err(failed)?;
        // SAFETY: the block came from malloc, and has not been freed yet.
        let usable = unsafe { libc::malloc_usable_size(block.cast()) };
        give(block);
        outcome.observe(&USABLE, usable);
        // The first ones are left clean, so a second time shows who writes.
        let kept = || Kept::of(bytes, is_touched, take, give).map_err(failed);
        kept()?;
        kept()?.claim(&mut outcome);
        Ok(outcome)
    }
}

static USABLE: Witness =
    Witness::of("bytes of a block that may be used", "malloc_usable_size").only_in(Pass::Evidence);
static WRITTEN: Witness =
    Witness::of("share of a block's pages that are written", "memory").only_in(Pass::Evidence);

/// Number of operations whose calls the processor counts.
const WATCHED: u64 = 64;

/// Claims that the timed operation calls malloc and free once each: the processor counts it, where the
/// kernel permits that. Otherwise the blocks that are kept suffice as a witness.
fn claim_calls(b: &mut Bencher, once: impl Fn() -> Result<(), Failure>) -> Result<(), Failure> {
    let malloc = (libc::malloc as *const u64, "calls of malloc");
    let free = (libc::free as *const u64, "calls of free");
    for (function, what) in [malloc, free] {
        let Ok(watch) = Watch::of(TaskId::own(), function, Uses::Calls) else {
            return Ok(());
        };
        (0..WATCHED).try_for_each(|_| once())?;
        let seen = watch.count().map_err(Unsupported::from)?;
        let claim = format!("{what} in {WATCHED} operations");
        b.claim_equal(&claim, WATCHED, seen, "debug register");
    }
    Ok(())
}

/// Number of blocks that are allocated before one is freed.
const BLOCKS: usize = 16;

/// What was seen of blocks that were all in use simultaneously.
struct Kept {
    /// How many of them do not overlap any other.
    apart: usize,
    /// The share of their pages that were written to.
    written: f64,
}

impl Kept {
    fn of<E>(
        bytes: usize,
        is_touched: bool,
        take: impl Fn() -> Result<*mut u8, E>,
        give: impl Fn(*mut u8),
    ) -> Result<Self, E> {
        let mut blocks = (0..BLOCKS).map(|_| take()).collect::<Result<Vec<_>, E>>()?;
        blocks.sort_unstable();
        let far = |pair: &&[*mut u8]| pair[1].addr() - pair[0].addr() >= bytes;
        let apart = 1 + blocks.windows(2).filter(far).count();
        // The operation writes 1 at the beginning of each page, where the allocator has its lists as well;
        // what is in the middle was written by the allocator.
        let step = page_size();
        let clear = |place: *mut u8| {
            // SAFETY: within a block; a byte that was not written to holds 0, or what it held before.
            unsafe { (place.read_volatile(), place.write_volatile(0)).0 }
        };
        let mut written = 0;
        for block in &blocks {
            for offset in (0..bytes).step_by(step) {
                let first = clear(block.wrapping_add(offset));
                let middle = clear(block.wrapping_add(offset + (bytes - offset).min(step) / 2));
                written += usize::from(match is_touched {
                    true => (first, middle) == (1, 0),
                    false => middle != 0,
                });
            }
        }
        blocks.dedup();
        let written = written as f64 / (BLOCKS * bytes.div_ceil(step)) as f64;
        blocks.into_iter().for_each(give);
        Ok(Self { apart, written })
    }

    /// Claims that none of them overlap, and shows which part of them is written.
    fn claim(&self, b: &mut Bencher) {
        let what = format!("of {BLOCKS} blocks in use, those apart from the others");
        b.claim_equal(&what, BLOCKS, self.apart, "addresses");
        b.observe(&WRITTEN, self.written);
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

    fn kept(bytes: usize, is_touched: bool, take: impl Fn() -> *mut u8) -> Kept {
        // SAFETY: the blocks are from malloc.
        let give = |block: *mut u8| unsafe { libc::free(block.cast()) };
        let of = || Kept::of(bytes, is_touched, || Ok::<_, ()>(take()), give).unwrap();
        of();
        of()
    }

    #[test]
    fn blocks_that_are_shared_or_untouched_or_filled_by_the_allocator_are_detected() {
        let small = [16, 64, 1024, 256 << 10].map(|bytes| (bytes, false));
        for (bytes, is_touched) in small.into_iter().chain([(1 << 20, true)]) {
            let honest = kept(bytes, is_touched, || taken(bytes, is_touched));
            assert_eq!(honest.apart, BLOCKS);
            assert_eq!(
                honest.written > 0.5,
                is_touched,
                "{bytes}: {}",
                honest.written
            );
            // As MALLOC_PERTURB_ has it.
            let filled = || {
                let block = taken(bytes, false);
                // SAFETY: the block has this many bytes.
                unsafe { block.write_bytes(0xA5, bytes) };
                block
            };
            let share = kept(bytes, is_touched, filled).written;
            assert_eq!(share == 1.0, !is_touched, "{bytes}: {share}");
        }
        assert_eq!(kept(1 << 20, true, || taken(1 << 20, false)).written, 0.0);
        let one = taken(1024, false);
        let once = Kept::of(1024, false, || Ok::<_, ()>(one), |_| ()).unwrap();
        assert_eq!(once.apart, 1);
        // SAFETY: nothing uses it any more.
        unsafe { libc::free(one.cast()) };
    }
}
