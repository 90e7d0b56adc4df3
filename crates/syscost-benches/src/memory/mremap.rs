//! Moving memory to another address, or changing its length, without copying it.
//!
//! ## Measures
//! `move`: one mremap of a whole mapping to another place (MREMAP_FIXED), alternately there and
//! back, all its pages touched, in small pages. Both places begin at multiples of 2 MiB. `resize`:
//! an untouched mapping that is cut to half its length and grown back in place; half of both calls
//! is the number.
//! ## Does not measure
//! The faults of new pages, or other CPUs that must forget the old place.
//! ## Interpretation
//! What realloc pays for large blocks instead of a copy: a page table entry for each page; whole
//! page tables in one step where 2 MiB or more move between equally aligned places, so 64 MiB may
//! cost less than 1 MiB.
//! ## Source
//! mremap(2).
#![allow(unsafe_code)] // mappings

use std::cell::{Cell, RefCell};
use std::ptr;

use rustix::io::Errno;
use rustix::mm::{
    Advice, MapFlags, MprotectFlags, MremapFlags, ProtFlags, madvise, mmap_anonymous, mprotect,
    mremap, mremap_fixed, munmap,
};
use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::memory::enough_for;

use super::space::{ADDRESS, maps, not_mapped, pagemap, whole_pages};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "mremap",
    tags: "move mapping, resize mapping, realloc",
    revision: 2,
    expect: &[calls(Sysno::MREMAP)],
    ..Benchmark::of::<Mremap>()
};

const OLD_LENGTH: Argument = Argument::at(1, "old length");
const NEW_LENGTH: Argument = Argument::at(2, "new length");
const FLAGS: Argument = Argument::at(3, "flags");
const NEW_ADDRESS: Argument = Argument::at(4, "new address");

/// Maximum number of iterations between two looks at the block: no limit in practice.
const MAX_TRIPS: u64 = 1 << 20;

/// What happens to the mapping.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Resize,
    Move,
}

impl Op {
    fn flags(self) -> u64 {
        match self {
            Op::Resize => 0,
            Op::Move => (libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED) as u64,
        }
    }
}

#[derive(Params, Clone)]
struct Mremap {
    op: Op,
    /// Bytes of the mapping.
    size: Bytes,
}

impl Measured for Mremap {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        let sizes = [Bytes::kib(4), Bytes::mib(1), Bytes::mib(64)];
        [
            rows!(Mremap {
                op: [Op::Resize],
                size: [Bytes::kib(64)]
            }),
            rows!(Mremap {
                op: [Op::Move],
                size: sizes
            }),
        ]
        .concat()
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.size == Bytes::mib(1) {
            true => Profile::Full,
            false => Profile::Standard,
        }
    }

    fn proofs(&self) -> MremapProofs<Proof> {
        use ArgumentValue::{Always, Apart, InTurn};
        let argument = |argument, value| Proof::argument(Sysno::MREMAP, argument, value);
        let (whole, half) = (self.size.0, self.size.0 / 2);
        MremapProofs {
            op: argument(FLAGS, Always(self.op.flags())),
            size: match self.op {
                Op::Resize => argument(OLD_LENGTH, InTurn(whole, half))
                    .and(argument(NEW_LENGTH, InTurn(half, whole))),
                // There and back: the two places do not overlap.
                Op::Move => argument(OLD_LENGTH, Always(whole))
                    .and(argument(NEW_LENGTH, Always(whole)))
                    .and(argument(ADDRESS, Apart(whole)))
                    .and(argument(NEW_ADDRESS, Apart(whole))),
            },
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let bytes = whole_pages(self.size)?;
        match self.op {
            Op::Resize => resize(plan, bytes),
            Op::Move => move_to_and_fro(plan, bytes),
        }
    }
}

fn move_to_and_fro(mut plan: Plan, bytes: usize) -> Result<Outcome, Failure> {
    enough_for(bytes)?;
    let block = Block::map(bytes)?;
    block.mark();
    // It is this block that is moved away each time, and its pages are checked.
    let home = ArgumentValue::EverySecond(block.start().addr() as u64);
    plan.expect_argument(Sysno::MREMAP, ADDRESS, home);
    claim_pages(&mut plan, "before the calls", &block, bytes)?;
    let place = RefCell::new(Place::reserve(bytes)?);
    let prepare = |_| {
        // The first move replaces the reservation, and the last one leaves a gap.
        *place.borrow_mut() = Place::reserve(bytes)?;
        block.is_marked()
    };
    let trips = Loop::batches(2, |iterations| {
        let mut place = place.borrow_mut();
        (0..iterations).try_for_each(|_| block.there_and_back(&mut place))
    });
    let mut outcome = plan.measure(trips.prepared(MAX_TRIPS, prepare))?;
    block.is_marked()?;
    claim_pages(&mut outcome, "after them", &block, bytes)?;
    let pages = bytes / page_size();
    let mut place = Place::reserve(bytes)?;
    let moved = block.pages_moved(&mut place)?;
    let claim = "pages at the other place after a call";
    outcome.claim_equal(claim, pages, moved, "pagemap");
    Ok(outcome)
}

fn claim_pages(b: &mut Bencher, when: &str, block: &Block, bytes: usize) -> Result<(), Failure> {
    let seen = pagemap::look(block.start(), bytes)?.present;
    let claim = format!("pages resident {when}");
    b.claim_equal(&claim, bytes / page_size(), seen, "pagemap");
    Ok(())
}

fn resize(plan: Plan, bytes: usize) -> Result<Outcome, Failure> {
    let block = Block::map(bytes)?;
    let mut outcome = plan.measure(Loop::batches(2, |iterations| {
        for _ in 0..iterations {
            // Shorter first: between batches no gap is left that another mapping could occupy.
            block.resize(bytes, bytes / 2)?;
            block.resize(bytes / 2, bytes)?;
        }
        Ok(())
    }))?;
    let start = block.start().addr();
    let mut mapped = |after: &str, expected: usize| -> Result<(), Failure> {
        let seen = maps::bytes_with("rw-", start..start + bytes)?;
        let claim = format!("bytes mapped after {after} call");
        outcome.claim_equal(&claim, expected, seen, "/proc/self/maps");
        Ok(())
    };
    block.resize(bytes, bytes / 2)?;
    // The kernel rounds up to whole pages.
    mapped("the first", (bytes / 2).next_multiple_of(page_size()))?;
    block.resize(bytes / 2, bytes)?;
    mapped("the second", bytes)?;
    Ok(outcome)
}

/// Alignment of places, in bytes: what one page table covers on x86-64.
const ALIGNED: usize = 2 << 20;

/// An inaccessible mapping that reserves addresses. Unmapped when dropped, unless something was moved there.
struct Place {
    start: *mut u8,
    bytes: usize,
    is_taken: bool,
}

impl Place {
    /// Reserves this many bytes, at a multiple of 2 MiB.
    fn reserve(bytes: usize) -> Result<Self, Failure> {
        let failed = |cause: Errno| not_mapped("reserve a place", cause);
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        let (whole, access) = (bytes + ALIGNED, ProtFlags::empty());
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use.
        let mapping =
            unsafe { mmap_anonymous(ptr::null_mut(), whole, access, flags) }.map_err(failed)?;
        let before = mapping.addr().next_multiple_of(ALIGNED) - mapping.addr();
        let start = mapping.cast::<u8>().wrapping_add(before);
        for (from, length) in [
            (mapping.cast::<u8>(), before),
            (start.wrapping_add(bytes), ALIGNED - before),
        ] {
            if length > 0 {
                // SAFETY: a part of the new mapping.
                unsafe { munmap(from.cast(), length) }.map_err(failed)?;
            }
        }
        Ok(Self {
            start,
            bytes,
            is_taken: false,
        })
    }
}

impl Place {
    /// Reserves these free addresses.
    fn keep(start: *mut u8, bytes: usize) -> Result<Self, Failure> {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED_NOREPLACE;
        // SAFETY: with this flag nothing that is mapped is touched.
        unsafe { mmap_anonymous(start.cast(), bytes, ProtFlags::empty(), flags) }
            .tried("keep a place")?;
        Ok(Self {
            start,
            bytes,
            is_taken: false,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.is_taken {
            // SAFETY: mapped by `reserve`, and nothing was moved there.
            let _ = unsafe { munmap(self.start.cast(), self.bytes) };
        }
    }
}

/// Anonymous memory in a separate mapping, in small pages.
struct Block {
    start: *mut u8,
    bytes: usize,
    /// Its current place and length, also after a batch that failed.
    now: Cell<(*mut u8, usize)>,
}

impl Block {
    /// Maps this many bytes, none of them touched.
    fn map(bytes: usize) -> Result<Self, Failure> {
        let failed = |cause: Errno| not_mapped("map a block", cause);
        let mut place = Place::reserve(bytes)?;
        place.is_taken = true;
        let block = Self {
            start: place.start,
            bytes,
            now: Cell::new((place.start, bytes)),
        };
        // SAFETY: the mapping is ours, and this changes no content.
        match unsafe { madvise(block.start.cast(), bytes, Advice::LinuxNoHugepage) } {
            // A kernel without huge pages does not have this advice, nor need it.
            Ok(()) | Err(Errno::INVAL) => {}
            Err(cause) => return Err(failed(cause)),
        }
        let access = MprotectFlags::READ | MprotectFlags::WRITE;
        // SAFETY: as above.
        unsafe { mprotect(block.start.cast(), bytes, access) }.map_err(failed)?;
        Ok(block)
    }

    fn start(&self) -> *mut u8 {
        self.start
    }

    fn mark(&self) {
        for number in 0..self.bytes / page_size() {
            // SAFETY: within the mapping, to which there are no references.
            unsafe { self.word(number).write_volatile(number) };
        }
    }

    /// Checks that its last page holds its number.
    fn is_marked(&self) -> Result<(), Failure> {
        let last = self.bytes / page_size() - 1;
        // SAFETY: as above.
        match unsafe { self.word(last).read_volatile() } {
            number if number == last => Ok(()),
            number => Err(Failure::Refuted(format!(
                "page {last} came back with {number} in it"
            ))),
        }
    }

    fn word(&self, number: usize) -> *mut usize {
        self.start.wrapping_add(number * page_size()).cast()
    }

    /// Moves it to the place and back again.
    #[inline(always)]
    fn there_and_back(&self, place: &mut Place) -> Result<(), Failure> {
        assert!(self.bytes == place.bytes);
        place.is_taken = true;
        for (from, to) in [(self.start, place.start), (place.start, self.start)] {
            // SAFETY: the block is at `from`. What is mapped at `to` is a reservation, or was ours
            // until the last call: this process has one thread, which maps nothing in between.
            unsafe { self.move_to(from, to) }.tried("mremap")?;
        }
        Ok(())
    }

    /// Moves it to the place, counts its pages there, and moves it back.
    fn pages_moved(&self, place: &mut Place) -> Result<usize, Failure> {
        assert!(self.bytes == place.bytes);
        let (home, there) = (self.start, place.start);
        let failed = |cause| Failure::of("mremap", cause);
        place.is_taken = true;
        // SAFETY: the block is at home, and the place is a reservation.
        unsafe { self.move_to(home, there) }.map_err(failed)?;
        // Reserves the gap meanwhile, since counting allocates.
        let mut kept = Place::keep(home, self.bytes)?;
        let seen = pagemap::look(there, self.bytes);
        kept.is_taken = true;
        // SAFETY: the block is there, and what is at home is a reservation.
        unsafe { self.move_to(there, home) }.map_err(failed)?;
        Ok(seen?.present)
    }

    #[inline(always)]
    unsafe fn move_to(&self, from: *mut u8, to: *mut u8) -> Result<(), Errno> {
        let flags = MremapFlags::MAYMOVE;
        // SAFETY: as the caller guarantees.
        let at = unsafe { mremap_fixed(from.cast(), self.bytes, self.bytes, flags, to.cast()) }?;
        self.now.set((at.cast(), self.bytes));
        if at.cast() == to {
            Ok(())
        } else {
            Err(Errno::FAULT)
        }
    }

    /// Changes its length in place.
    #[inline(always)]
    fn resize(&self, from: usize, to: usize) -> Result<(), Failure> {
        assert!(from <= self.bytes && to <= self.bytes);
        // SAFETY: the mapping is ours, nothing in it is needed, and it does not move.
        unsafe { mremap(self.start.cast(), from, to, MremapFlags::empty()) }
            .map(|_| self.now.set((self.start, to)))
            .tried("mremap")
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let (start, bytes) = self.now.get();
        // SAFETY: mapped by `map`, and there now. Its former places may belong to other mappings.
        let _ = unsafe { munmap(start.cast(), bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::space::maps::bytes_with;
    use crate::task::child::fork;

    #[test]
    fn a_block_that_stays_away_leaves_its_old_place_alone() {
        // In a process with one thread, so that nothing else maps what a move leaves.
        let child = fork(|| {
            let bytes = 8 * page_size();
            let (block, mut place) = (Block::map(bytes).unwrap(), Place::reserve(bytes).unwrap());
            let (home, away) = (block.start(), place.start);
            place.is_taken = true;
            // SAFETY: the block is at home, and the place is a reservation.
            unsafe { block.move_to(home, away) }.unwrap();
            let _others = Place::keep(home, bytes).unwrap();
            drop(block);
            let at = |start: *mut u8| start.addr()..start.addr() + bytes;
            assert_eq!(bytes_with("---", at(home)).unwrap(), bytes);
            i32::from(bytes_with("rw-", at(away)).unwrap() != 0)
        });
        child.and_then(|child| child.ends_with(0)).unwrap();
    }

    #[test]
    fn a_block_comes_back_with_what_is_in_it() {
        // In a process with one thread, so that nothing else maps what a move leaves.
        let child = fork(|| {
            let bytes = 8 * page_size();
            let (block, mut place) = (Block::map(bytes).unwrap(), Place::reserve(bytes).unwrap());
            assert!(block.start().addr().is_multiple_of(ALIGNED));
            block.mark();
            block.there_and_back(&mut place).unwrap();
            block.is_marked().unwrap();
            let mut place = Place::reserve(bytes).unwrap();
            if let Ok(moved) = block.pages_moved(&mut place) {
                assert_eq!(moved, 8);
            }
            block.is_marked().unwrap();
            block.resize(bytes, bytes / 2).unwrap();
            block.resize(bytes / 2, bytes).unwrap();
            i32::from(block.is_marked().is_ok())
        });
        child.and_then(|child| child.ends_with(0)).unwrap();
    }
}
