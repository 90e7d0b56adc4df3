//! Shared: a pointer chase with what it claims, and the pages and sizes it is measured in.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Chase, Route};
use syscost_sys::memory::{Memory, Pages};

/// The parameter that says how long the memory is, in bytes.
pub(super) const BYTES: &str = "bytes";

/// Up to here the cycle is walked once before anything is timed. Of longer ones the measurement walks only a part, which no cache holds
/// more of than of the rest.
const WALKED: usize = 64 << 20;

/// Lays a chase along this route into memory of its own, and claims that it is all there.
pub(crate) fn chase(
    b: &mut Bencher,
    pages: Pages,
    route: Route,
    chains: usize,
) -> Result<Chase, Failure> {
    let memory = Memory::fill(route.bytes, pages)?;
    let chase = Chase::new(memory, route, chains)?;
    claim(b, &chase, route.lines())?;
    Ok(chase)
}

/// Claims that the chase's memory is resident, and that its cycle has so many lines. The walk around it also warms the caches.
pub(crate) fn claim(b: &mut Bencher, chase: &Chase, lines: usize) -> Result<(), Failure> {
    b.claim_resident(chase.memory())?;
    if !b.is_timed() || chase.memory().bytes() <= WALKED {
        let visited = chase.visited();
        b.claim(
            "lines visited in one round of the chase",
            lines as f64,
            visited as f64,
            "walk",
            visited == lines,
        );
    }
    Ok(())
}

/// The pages of this case.
pub(super) fn pages(case: &Case) -> Result<Pages, Unsupported> {
    let name = case.get(Pages::KEY);
    Pages::from_name(name)
        .ok_or_else(|| Unsupported::new(format!("there are no pages of {name} here")))
}

/// Whether the machine has the pages of this case.
pub(super) fn support(case: &Case) -> Result<(), Unsupported> {
    pages(case)?.bytes().map(drop)
}

/// The largest pages that the kernel gives for the asking.
pub(super) fn largest() -> Pages {
    match Pages::Huge.bytes() {
        Ok(_) => Pages::Huge,
        Err(_) => Pages::Small,
    }
}
