//! Claims huge pages, and has small ones.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must be withheld: there is one fault for each length of a huge page, as there should be, but
//! the kernel shows no huge pages.
//! ## Source
//! None: it is made up.
//!
//! Except for its memory it is `memory.page_fault{kind=huge}`.

use syscost_harness::prelude::*;
use syscost_sys::memory::Pages;

use crate::memory::page_fault::huge;
use crate::memory::space::area::Area;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Small pages sold as huge",
    measure,
    ..Benchmark::DEFAULT
};

/// The usual size of huge pages, since the lie needs none.
const LENGTH: usize = 2 << 20;

fn measure(mut plan: Plan) -> Result<Outcome, Failure> {
    huge::expected(LENGTH)
        .into_iter()
        .for_each(|one| plan.expect(one));
    let area = Area::reserve(huge::MAX_PAGES * LENGTH, Pages::Small)?;
    huge::measure(plan, &area, LENGTH)
}
