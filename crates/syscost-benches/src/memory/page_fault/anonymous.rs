//! Pages of private memory that are written, read, or both.

use std::cell::Cell;
use std::ops::Range;

use rustix::param::page_size;
use syscost_harness::prelude::*;

use super::minor_faults;
use super::state::{FRESH_BYTES, GIVEN_BACK, State, Walk};
use crate::memory::space::area::Area;

/// Maximum number of pages per batch.
const MAX_PAGES: usize = 4096;

/// Pages of the batch whose result is checked.
const LOOKED_AT: usize = 256;

/// Pages of the area that is given back before each batch: 1 MiB, which the second cache of most
/// cores holds.
const RECYCLED: usize = 256;

pub(super) fn recycled_bytes() -> usize {
    RECYCLED * page_size()
}

pub(super) fn write(plan: Plan, state: State) -> Result<Outcome, Failure> {
    let touch = |area: &Area, pages| area.write(pages);
    match state {
        State::Recycled => {
            let area = Area::reserve(recycled_bytes(), Pages::Small)?;
            let given_back = |_| area.forget().map(|()| 0);
            let touch = |pages| touch(&area, pages);
            let mut outcome = prepared(plan, &area, RECYCLED, given_back, touch)?;
            area.forget()?;
            area.write(0..LOOKED_AT);
            claim(&mut outcome, &area, LOOKED_AT)?;
            Ok(outcome)
        }
        State::Fresh => {
            let area = Area::reserve(FRESH_BYTES, Pages::Small)?;
            let walk = Walk::new(&area, || Ok(()))?;
            let write = |pages: Range<usize>| {
                touch(&area, pages.clone());
                walk.touched(pages.end);
            };
            let next = |pages| walk.next(pages);
            let mut outcome = prepared(plan, &area, MAX_PAGES, next, write)?;
            walk.claim(&mut outcome, 0)?;
            Ok(outcome)
        }
    }
}

pub(super) fn read(plan: Plan) -> Result<Outcome, Failure> {
    let area = area()?;
    let given_back = |_| area.forget().map(|()| 0);
    let read = |pages| area.read(pages);
    let mut outcome = prepared(plan, &area, MAX_PAGES, given_back, read)?;
    area.forget()?;
    area.read(0..LOOKED_AT);
    claim(&mut outcome, &area, 0)?;
    Ok(outcome)
}

/// Measures the first write, after reads.
pub(super) fn write_after_read(plan: Plan) -> Result<Outcome, Failure> {
    let area = area()?;
    let zeros = |pages| {
        area.forget()?;
        area.read(0..pages);
        Ok(0)
    };
    let write = |pages| area.write(pages);
    let mut outcome = prepared(plan, &area, MAX_PAGES, zeros, write)?;
    zeros(LOOKED_AT)?;
    let before = area.look(0..LOOKED_AT)?.present;
    let of_its_own = area.memory().resident()?.bytes;
    let claim_pages = "pages mapped before 256 writes";
    outcome.claim_equal(claim_pages, LOOKED_AT, before, "pagemap");
    let claim_zeros = "bytes resident before 256 writes: it is the page of zeros";
    outcome.claim_equal(claim_zeros, 0, of_its_own, "smaps");
    area.write(0..LOOKED_AT);
    claim(&mut outcome, &area, LOOKED_AT)?;
    Ok(outcome)
}

fn area() -> Result<Area, Failure> {
    Area::reserve(MAX_PAGES * page_size(), Pages::Small)
}

/// Counts of a batch's pages, per page.
#[derive(Clone, Copy)]
pub(super) struct Left {
    zeros_before: f64,
    own_after: f64,
}

impl Left {
    /// Absent before, private pages afterwards.
    pub(super) const OWN: Self = Self {
        zeros_before: 0.0,
        own_after: 1.0,
    };

    /// The zero page before, private pages afterwards.
    pub(super) const OWN_AFTER_ZEROS: Self = Self {
        zeros_before: 1.0,
        own_after: 1.0,
    };

    /// Absent before, the zero page afterwards.
    pub(super) const ZEROS: Self = Self {
        zeros_before: 0.0,
        own_after: 0.0,
    };
}

/// What proves pages that are touched for the first time, by their counts.
pub(super) fn proof(left: Left) -> Proof {
    Proof::counted([
        minor_faults(1.0),
        exactly(Counter::Reported(ZEROS), left.zeros_before),
        exactly(Counter::Reported(OWN), left.own_after),
    ])
}

/// Pages that were present before an operation, but not private.
const ZEROS: &str = "pages of zeros before it";

/// Pages that are mapped nowhere else afterwards.
const OWN: &str = "pages of this process alone after it";

/// Measures batches of at most `most` pages with checks before and after each: a fault is counted
/// the same whatever its cause. `prepare` returns the first page of the next batch.
fn prepared<'p>(
    plan: Plan<'p>,
    area: &Area,
    most: usize,
    prepare: impl Fn(usize) -> Result<usize, Failure>,
    touch: impl Fn(Range<usize>),
) -> Result<Outcome<'p>, Failure> {
    let (zeros, own, batch) = (Cell::new(0), Cell::new(0), Cell::new((0, 0)));
    let pages_of = |(first, pages)| first..first + pages;
    let look_after = || -> Result<(), Failure> {
        own.set(own.get() + area.look(pages_of(batch.get()))?.exclusive);
        Ok(())
    };
    let touched = Loop::batches(1, |pages| {
        let (first, _) = batch.get();
        touch(first..first + pages as usize);
        Ok(())
    });
    let prepared = touched.prepared(most as u64, |pages| {
        look_after()?;
        let pages = pages as usize;
        batch.set((prepare(pages)?, pages));
        let seen = area.look(pages_of(batch.get()))?;
        zeros.set(zeros.get() + seen.present - seen.exclusive);
        Ok(())
    });
    let mut outcome = plan.measure(prepared)?;
    look_after()?;
    outcome.observe(&GIVEN_BACK, area.memory().bytes());
    outcome.report(ZEROS, zeros.get() as f64);
    outcome.report(OWN, own.get() as f64);
    Ok(outcome)
}

/// Claims that after the first 256 pages were touched all are mapped, and this many are private pages of
/// this process.
fn claim(b: &mut Bencher, area: &Area, own: usize) -> Result<(), Failure> {
    let mapped = area.look(0..area.pages())?.present;
    b.claim_equal("pages mapped after 256", LOOKED_AT, mapped, "pagemap");
    let (seen, expected) = (area.memory().resident()?, own * page_size());
    b.claim_equal("bytes resident after 256", expected, seen.bytes, "smaps");
    let in_pages = seen.in_pages_bytes;
    b.claim_equal("of these in small pages", expected, in_pages, "smaps");
    Ok(())
}
