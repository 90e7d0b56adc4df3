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
    claim_random(b, &chase);
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

/// Claims that no distance is frequent among the steps: such an order, backwards or in longer steps, could be fetched ahead of.
pub(super) fn claim_random(b: &mut Bencher, chase: &Chase) {
    let (seen, share) = (chase.share_of_most_frequent_step(), random(chase.lines()));
    b.claim(
        "share of the most frequent distance among the steps",
        share.fact(),
        seen,
        "walk",
        share.holds(seen),
    );
}

/// The share that one distance may have in a random order of so many lines. Of very few lines many are alike by chance, but not all but one, as in a
/// regular order.
fn random(lines: usize) -> Bound {
    Bound::AtMost((0.1 + 6.0 / lines as f64).min(1.0))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regular_order_of_few_lines_is_not_random() {
        for lines in [8, 12, 16, 100, 1 << 20] {
            assert!(!random(lines).holds((lines - 1) as f64 / lines as f64));
        }
        assert!(random(8).holds(0.75), "six of eight, by chance");
        assert!(random(16).holds(0.4) && !random(16).holds(0.5));
        assert!(!random(4096).holds(0.2));
    }
}
