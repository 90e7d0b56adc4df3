//! Where the pages come from that faults are given: used a moment ago, or not by this process.

use std::cell::Cell;

use rustix::param::page_size;
use syscost_harness::prelude::*;

use crate::memory::space::area::Area;

/// The state of the physical pages that the kernel finds for faults.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Given back just before: the kernel hands out first what came last, so they are in the
    /// caches.
    Recycled,
    /// Not had by this process before, or a whole area ago.
    Fresh,
}

pub(super) static GIVEN_BACK: Witness = Witness::of("bytes that are given back at once", "mapping");

/// Bytes that are touched one after the other before any is given back.
pub(super) const FRESH_BYTES: usize = 256 << 20;

/// Walks through an area from batch to batch, and gives its pages back only at its end.
pub(super) struct Walk<'a, F> {
    area: &'a Area,
    /// What to do before pages are given back.
    before_end: F,
    /// The pages before this one have been touched since any was given back.
    touched: Cell<usize>,
}

impl<'a, F: Fn() -> Result<(), Failure>> Walk<'a, F> {
    /// A walk from the beginning of an area of which nothing was touched. Makes its page tables.
    pub(super) fn new(area: &'a Area, before_end: F) -> Result<Self, Failure> {
        let of_one_table = page_size() / size_of::<u64>();
        for page in (0..area.pages()).step_by(of_one_table) {
            area.read(page..page + 1);
        }
        area.forget()?;
        Ok(Self {
            area,
            before_end,
            touched: Cell::new(0),
        })
    }

    pub(super) fn next(&self, pages: usize) -> Result<usize, Failure> {
        if self.touched.get() + pages > self.area.pages() {
            (self.before_end)()?;
            self.area.forget()?;
            self.touched.set(0);
        }
        Ok(self.touched.get())
    }

    /// Notes that the pages before this one have been touched.
    #[inline(always)]
    pub(super) fn touched(&self, end: usize) {
        self.touched.set(end);
    }

    /// How many bytes have been touched since the walk began anew.
    pub(super) fn touched_bytes(&self) -> usize {
        self.touched.get() * (self.area.memory().bytes() / self.area.pages())
    }

    /// Claims that every page that was touched since the walk began anew is still there, so that
    /// none can have been used twice; but for this many bytes at most, which the kernel did not give.
    pub(super) fn claim(&self, b: &mut Bencher, not_given: usize) -> Result<(), Failure> {
        let touched = self.touched_bytes();
        let seen = self.area.memory().resident()?.bytes;
        let claim = "bytes resident of those touched, none given back";
        match not_given {
            0 => b.claim_equal(claim, touched, seen, "smaps"),
            _ => {
                let bound = Bound::Within((touched - not_given) as f64, touched as f64);
                b.claim_within(claim, bound, seen as f64, "smaps");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn pages_are_given_back_only_at_the_end_of_the_area() {
        let area = or_skip!(
            Area::reserve(1 << 20, Pages::Small),
            "no memory of a known size here"
        );
        let ends = Cell::new(0);
        let walk = Walk::new(&area, || {
            ends.set(ends.get() + 1);
            Ok(())
        });
        let walk = walk.unwrap();
        let batch = area.pages() / 2 - 1;
        let mut firsts = Vec::new();
        let mut resident = Vec::new();
        for _ in 0..3 {
            let first = walk.next(batch).unwrap();
            area.write(first..first + batch);
            walk.touched(first + batch);
            firsts.push(first);
            resident.push(area.look(0..area.pages()).unwrap().present);
        }
        assert_eq!((firsts, ends.get()), (vec![0, batch, 0], 1));
        assert_eq!(resident, [batch, 2 * batch, batch]);
    }
}
