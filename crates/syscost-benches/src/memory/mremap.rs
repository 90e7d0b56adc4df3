//! Moving memory to another address, or changing its length, without copying it.
//!
//! ## Measures
//! `move`: one mremap of a whole mapping to another place (MREMAP_FIXED), there and back in turn, all its pages touched, in small ones.
//! Both places begin at multiples of 2 MiB. `resize`: a mapping, untouched, that is cut to its half and grown back in place; half of
//! both calls is the number.
//! ## Does not measure
//! The faults of new pages, or other CPUs that must forget the old place.
//! ## Reading it
//! What realloc pays for large blocks instead of a copy: an entry in the tables for each page; whole tables at once where 2 MiB or more
//! move between like places, so 64 MiB may cost less than 1 MiB.
//! ## Source
//! mremap(2).
#![allow(unsafe_code)] // mappings

mod place;

use std::cell::RefCell;

use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::memory::enough_for;

use self::place::{Block, Place};
use super::space::{SIZE, maps, pagemap, size};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "memory.mremap",
    title: "mremap",
    cases: Cases::List(&[
        spec(&[(OP, "resize"), (SIZE, "64K")]),
        spec(&[(OP, "move"), (SIZE, "4K")]),
        spec(&[(OP, "move"), (SIZE, "1M")]),
        spec(&[(OP, "move"), (SIZE, "64M")]),
    ]),
    expect: &[calls(Sysno::MREMAP)],
    quick: |_| false,
    run,
    source: include_str!("mremap.rs"),
    ..Benchmark::DEFAULT
};

const OP: &str = "op";

const fn spec(params: &'static [(&'static str, &'static str)]) -> CaseSpec {
    CaseSpec {
        params,
        expect: &[],
    }
}

/// There and back so many times in the longest batch.
const MOST: u64 = 1 << 20;

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let bytes = size(b.case())?;
    if b.case().get(OP) == "resize" {
        return resize(b, bytes);
    }
    enough_for(bytes)?;
    let block = Block::map(bytes)?;
    block.mark();
    let place = RefCell::new(Place::reserve(bytes)?);
    b.prepared_batches(
        2,
        MOST,
        |_| {
            // The first move takes the place of what was reserved, and the last leaves a gap.
            *place.borrow_mut() = Place::reserve(bytes)?;
            block.is_marked()
        },
        |turns| {
            let mut place = place.borrow_mut();
            (0..turns).try_for_each(|_| block.there_and_back(&mut place))
        },
    )?;
    block.is_marked()?;
    let pages = (bytes / page_size()) as f64;
    let seen = pagemap::look(block.start(), bytes)?.present as f64;
    b.claim("pages resident", pages, seen, "pagemap", seen == pages);
    let mut place = Place::reserve(bytes)?;
    let moved = block.pages_moved(&mut place)? as f64;
    let claim = "pages at the other place after a call";
    b.claim(claim, pages, moved, "pagemap", moved == pages);
    Ok(())
}

fn resize(b: &mut Bencher, bytes: usize) -> Result<(), Failure> {
    let block = Block::map(bytes)?;
    b.batches(2, |turns| {
        for _ in 0..turns {
            // Shorter first: between batches no gap is left that another mapping could take.
            block.resize(bytes, bytes / 2)?;
            block.resize(bytes / 2, bytes)?;
        }
        Ok(())
    })?;
    let start = block.start().addr();
    let mut mapped = |after: &str, expected: usize| -> Result<(), Failure> {
        let seen = maps::bytes_with("rw-", start..start + bytes)? as f64;
        let (claim, expected) = (format!("bytes mapped after {after} call"), expected as f64);
        b.claim(&claim, expected, seen, "/proc/self/maps", seen == expected);
        Ok(())
    };
    block.resize(bytes, bytes / 2)?;
    mapped("the first", bytes / 2)?;
    block.resize(bytes / 2, bytes)?;
    mapped("the second", bytes)
}
