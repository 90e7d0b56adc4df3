//! Shared: what pointer chases claim, and the pages they are measured in.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Chase, LINE, Route};
use syscost_sys::memory::{Memory, Pages};

use super::hierarchy::told;

/// The parameter that says how long the memory is, in bytes.
pub(super) const BYTES: &str = "bytes";

/// Up to here the cycle is walked once before anything is timed. Of longer ones the measurement walks only a part, which no cache holds
/// more of than of the rest.
const WALKED: usize = 64 << 20;

/// Lays a chase along this route, of dense lines in random order, into memory of its own, and claims that it is all there.
pub(super) fn chase(
    b: &mut Bencher,
    pages: Pages,
    route: Route,
    chains: usize,
) -> Result<Chase, Failure> {
    let chase = Chase::new(Memory::fill(route.bytes, pages)?, route, chains)?;
    claim(b, &chase, route.bytes / LINE, LINE)?;
    claim_steps(b, &chase, LINE, RANDOM);
    Ok(chase)
}

/// Claims that the chase's memory is resident in the pages that the case names, and that its cycle has so many lines, each in another piece of
/// so many bytes. The walk around it also warms the caches.
pub(crate) fn claim(
    b: &mut Bencher,
    chase: &Chase,
    lines: usize,
    apart: usize,
) -> Result<(), Failure> {
    b.claim_resident(chase.memory())?;
    let named = b.case().get(Pages::KEY).to_owned();
    if !named.is_empty() {
        let used = chase.memory().pages().name();
        let holds = named == used;
        b.claim("pages of the memory", named, used, "benchmark", holds);
    }
    if !b.is_timed() || chase.memory().bytes() <= WALKED {
        let visited = chase.visited_apart(apart);
        b.claim(
            &format!("lines visited in one round of the chase, {apart} bytes apart"),
            lines as f64,
            visited as f64,
            "walk",
            visited == lines,
        );
    }
    Ok(())
}

/// Claims which share of the steps leads so many bytes upwards: what tells one order from another.
pub(super) fn claim_steps(b: &mut Bencher, chase: &Chase, bytes: usize, share: Bound) {
    let seen = chase.share_of_steps(bytes);
    b.claim(
        &format!("share of steps to {bytes} bytes further"),
        share.fact(),
        seen,
        "walk",
        share.holds(seen),
    );
}

/// Claims that memory of so many bytes is beyond the last cache, as far as the system tells.
pub(super) fn claim_beyond_caches(b: &mut Bencher, bytes: usize) {
    let beyond = told::is_beyond(told::last_bytes(), bytes as f64);
    b.claim_verdict(
        &beyond.claim,
        beyond.expected,
        bytes as f64,
        &beyond.source,
        beyond.verdict,
        beyond.reason.as_deref(),
    );
}

/// Of steps in a random order no more lead to the line behind. Of very few lines many do by chance.
pub(super) const RANDOM: Bound = Bound::AtMost(0.5);

/// Of steps upwards so many lead to the line behind: all but the last.
pub(super) const UPWARDS: Bound = Bound::AtLeast(0.9);

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
