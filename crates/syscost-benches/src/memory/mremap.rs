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

mod place;

use std::cell::RefCell;

use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::memory::enough_for;

use self::place::{Block, Place};
use super::space::{ADDRESS, maps, pagemap, whole_pages};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "mremap",
    tags: "move mapping, resize mapping, realloc",
    revision: 2,
    expect: &[calls(Sysno::MREMAP)],
    ..Benchmark::of::<Row>()
};

const OLD_LENGTH: Argument = Argument::at(1, "old length");
const NEW_LENGTH: Argument = Argument::at(2, "new length");
const FLAGS: Argument = Argument::at(3, "flags");
const NEW_ADDRESS: Argument = Argument::at(4, "new address");

/// Maximum number of round trips per batch.
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
struct Row {
    op: Op,
    /// Bytes of the mapping.
    size: Bytes,
}

impl Measured for Row {
    fn rows(_: &Here) -> Vec<Case<Self>> {
        let sizes = [Bytes::kib(4), Bytes::mib(1), Bytes::mib(64)];
        [
            rows!(Row {
                op: [Op::Resize],
                size: [Bytes::kib(64)]
            }),
            rows!(Row {
                op: [Op::Move],
                size: sizes
            }),
        ]
        .concat()
    }

    fn profile(&self, _: &Here) -> Profile {
        match self.size == Bytes::mib(1) {
            true => Profile::Full,
            false => Profile::Standard,
        }
    }

    fn proofs(&self) -> RowProofs<Proof> {
        use ArgumentValue::{Always, Apart, InTurn};
        let argument = |argument, value| Proof::argument(Sysno::MREMAP, argument, value);
        let (whole, half) = (self.size.0, self.size.0 / 2);
        RowProofs {
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

/// Claims that all of its pages are resident.
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
