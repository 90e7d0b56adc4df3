//! Claims faults that read from a device, for a file that is in the page cache.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must be withheld: no fault waits for a device.
//! ## Source
//! None: it is made up.
//!
//! Except for the page cache, which keeps the file, it is `memory.page_fault{kind=file_cold}`.

use rustix::param::page_size;
use syscost_harness::prelude::*;

use super::FILE_BYTES;
use crate::memory::page_fault::file;
use crate::memory::space::file::FilePages;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Cached file sold as a cold one",
    expect: &[
        within(Counter::MajorFaults, 0.99, 1.01),
        at_most(Counter::MinorFaults, 1.0),
        at_most(Counter::VoluntarySwitches, 2.0),
    ],
    measure,
    ..Benchmark::DEFAULT
};

fn measure(mut plan: Plan) -> Result<Outcome, Failure> {
    let file = FilePages::make(FILE_BYTES as usize / page_size())?;
    let touch = file::touching(&mut plan, &file);
    plan.measure(Single::of(|| file.unmap_pages(), touch))
}
