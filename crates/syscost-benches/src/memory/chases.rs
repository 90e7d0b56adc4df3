//! Shared: what pointer chases claim, and the pages they are measured in.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Chase, LINE, Route, Work, most_alike};
use syscost_sys::memory::{Memory, Pages};

use super::hierarchy::reported;
use super::tlb::COUNT;

/// The parameter that says how long the memory is, in bytes.
pub(super) const SIZE: &str = "size";

/// A cycle of this many lines is walked once before anything is timed. Of longer ones the
/// measurement walks only a part, which no cache holds more of than of the rest.
const WALKED: usize = (64 << 20) / LINE;

/// No cache of one core's, or what it gets of a shared one, holds more, in bytes.
const MAX_CACHED: usize = 32 << 20;

/// Cycles that may lie in a cache are gone round so often beforehand: a cache that takes what another one drops has them only then, and one
/// that is shared with others keeps as many of them as are asked for often enough.
const LAPS: u64 = 3;

/// Goes round a cycle with the chains that are to be timed, until caches hold of it what they will hold then.
pub(super) fn go_round(b: &Bencher, chase: &Chase) {
    if b.is_timed() && chase.route().bytes <= MAX_CACHED {
        let lap = (chase.lines() as u64).div_ceil(chase.operations_per_turn());
        chase.run(LAPS * lap);
    }
}

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

/// Claims that this many chains go round: a step of one that shares its time with others is no latency.
pub(super) fn claim_chains(b: &mut Bencher, chase: &Chase, chains: usize) {
    let claim = "chains whose places the checksum adds up";
    b.claim_equal(claim, chains, chase.chains(), "kernel");
    if chains == 1 {
        let (all, row) = (chase.operations_per_turn(), chase.loads_in_a_row() as u64);
        let claim = "loads of a turn, each from where the one before led";
        b.claim_equal(claim, all, row, "the code's bytes");
    }
}

/// Claims that the chase's memory is resident in the pages that the case names, and that its cycle
/// has this many lines, each in another piece of this many bytes. The walk around it also warms the
/// caches; where there is none, each page is touched, lest the chase walk page tables that nobody
/// has walked before.
pub(crate) fn claim(
    b: &mut Bencher,
    chase: &Chase,
    lines: usize,
    apart: usize,
) -> Result<(), Failure> {
    b.claim_resident(chase.memory())?;
    if let Some(named) = b.case().find(Pages::KEY).map(str::to_owned) {
        let used = chase.memory().pages().name();
        b.claim_equal("pages of the memory", named.as_str(), used, "benchmark");
    }
    for (parameter, what, used) in [
        (SIZE, "bytes of the chase's memory", chase.route().bytes),
        (COUNT, "pages with a line of the chase", chase.lines()),
    ] {
        if let Some(named) = b.case().find_number(parameter) {
            b.claim_equal(what, named, used as u64, "the row's name");
        }
    }
    if b.is_timed() && chase.lines() > WALKED {
        chase.touch_pages();
    } else {
        let visited = match b.is_timed() {
            true => chase.visited_apart(apart),
            false => chase.known_visited_apart(apart),
        };
        let claim = format!("lines visited in one round of the chase, {apart} bytes apart");
        b.claim_equal(&claim, lines, visited, "walk");
    }
    Ok(())
}

/// Claims which share of the steps leads this many bytes upwards: what tells one order from another.
pub(super) fn claim_steps(b: &mut Bencher, chase: &Chase, bytes: usize, share: Bound) {
    let claim = format!("share of steps to {bytes} bytes further");
    b.claim_within(&claim, share, chase.share_of_steps(bytes), "walk");
}

/// Claims that memory of this many bytes is beyond the last cache, as far as the system tells.
pub(super) fn claim_beyond_caches(b: &mut Bencher, bytes: usize) {
    let beyond = reported::is_beyond(reported::last_bytes(), bytes as f64);
    b.claim_verdict(
        &beyond.claim,
        beyond.expected,
        bytes as f64,
        &beyond.source,
        beyond.verdict,
        beyond.reason.as_deref(),
    );
}

/// Claims that no distance is frequent among the steps: such an order, backwards or in longer steps, could be fetched ahead of. And that few
/// of them stay on a page, as they do where one page after the other is visited.
pub(super) fn claim_random(b: &mut Bencher, chase: &Chase) {
    b.claim_within(
        "share of the most frequent distance among the steps",
        random(chase.lines()),
        chase.share_of_most_frequent_step(),
        "walk",
    );
    b.claim_within(
        "share of steps within a page",
        within_a_page(chase.route().bytes),
        chase.share_within_a_page(),
        "walk",
    );
}

/// The share of steps that may stay on their page, of 4 KiB, in a random order of this many bytes:
/// three times as many as do by chance, and a few.
fn within_a_page(bytes: usize) -> Bound {
    Bound::AtMost((0.05 + 3.0 * 4096.0 / bytes as f64).min(1.0))
}

/// The share that one distance may have in a random order of this many lines.
fn random(lines: usize) -> Bound {
    Bound::AtMost(most_alike(lines))
}

/// Of steps upwards this many lead to the line behind: all but the last.
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

    #[test]
    fn one_page_after_the_other_is_not_random() {
        for bytes in [24 << 10, 96 << 10, 1 << 20, 256 << 20] {
            let by_chance = 4096.0 / bytes as f64;
            assert!(within_a_page(bytes).holds(1.5 * by_chance), "{bytes}");
            assert!(!within_a_page(bytes).holds(63.0 / 64.0), "{bytes}");
        }
        assert!(within_a_page(4096).holds(1.0), "there is no other page");
    }
}
