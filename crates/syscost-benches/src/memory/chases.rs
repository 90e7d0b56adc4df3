//! Shared: the claims of pointer chases, and the pages of their memory.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Chase, LINE, Work, max_share_alike};
use syscost_sys::memory::Pages;

use super::hierarchy::reported;

/// A cycle of up to this many lines is walked once before anything is timed. The measurement
/// walks only a part of a longer one, of which caches hold no larger share than of the rest.
const WALKED: usize = (64 << 20) / LINE;

/// Upper bound for the cache available to one core, including its part of a shared one, in bytes.
const MAX_CACHED: usize = 32 << 20;

/// How often a cycle that fits in a cache is walked beforehand: a cache that receives what another
/// one evicts has its lines only then, and one that is shared with other cores keeps as many of
/// them as are accessed often enough.
const LAPS: u64 = 3;

/// Runs the chains that are to be timed around the cycle, until the caches hold as much of it as
/// they ever will.
pub(super) fn go_round(b: &Bencher, chase: &Chase) {
    if b.is_timed() && chase.route().bytes <= MAX_CACHED {
        let lap = (chase.lines() as u64).div_ceil(chase.operations_per_iteration());
        chase.run(LAPS * lap);
    }
}

/// Claims the number of chains: a step that overlaps with those of other chains does not take its latency.
pub(super) fn claim_chains(b: &mut Bencher, chase: &Chase, chains: usize) {
    let claim = "chains whose places the checksum adds up";
    b.claim_equal(claim, chains, chase.chains(), "kernel");
    if chains == 1 {
        let (all, row) = (
            chase.operations_per_iteration(),
            chase.loads_in_a_row() as u64,
        );
        let claim = "loads of a turn, each from where the one before led";
        b.claim_equal(claim, all, row, "the code's bytes");
    }
}

/// Claims that the chase's memory is resident in pages of this kind, of those that the row names.
pub(super) fn claim_pages(b: &mut Bencher, chase: &Chase, named: Pages) -> Result<(), Failure> {
    b.claim_resident(chase.memory())?;
    let used = chase.memory().pages().name();
    b.claim_equal("pages of the memory", named.name(), used, "benchmark");
    Ok(())
}

/// Claims that the chase's memory is of the size that the row names.
pub(super) fn claim_size(b: &mut Bencher, chase: &Chase, named: Bytes) {
    let (what, used) = ("bytes of the chase's memory", chase.route().bytes as u64);
    b.claim_equal(what, named.0, used, "the row's name");
}

/// Claims that its cycle has this many lines, each in a different piece of this many bytes. The walk
/// around it also warms the caches; if it is not walked, each page is touched, so that the chase does not
/// use page tables that were never used before.
pub(crate) fn claim_lines(b: &mut Bencher, chase: &Chase, lines: usize, apart: usize) {
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
}

/// Claims the share of steps that leads this many bytes upwards, which distinguishes one order from another.
pub(super) fn claim_steps(b: &mut Bencher, chase: &Chase, bytes: usize, share: Bound) {
    let claim = format!("share of steps to {bytes} bytes further");
    b.claim_within(&claim, share, chase.share_of_steps(bytes), "walk");
}

/// Claims that memory of this many bytes is beyond the last cache, as far as the system reports.
pub(super) fn claim_beyond_caches(b: &mut Bencher, bytes: usize) {
    let last = reported::last_bytes(&[b.cpu()]);
    b.add_evidence(reported::is_beyond(last, bytes as f64));
}

/// Claims that no distance is frequent among the steps: such an order, backwards or in longer
/// steps, could be prefetched. Also claims that few of them stay on a page, as they would if pages
/// were visited one after another.
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

/// The maximum share of steps that may stay on their page, of 4 KiB, in a random order of this many bytes:
/// three times the expected share, plus some.
fn within_a_page(bytes: usize) -> Bound {
    Bound::AtMost((0.05 + 3.0 * 4096.0 / bytes as f64).min(1.0))
}

/// The maximum share of steps with the same distance in a random order of this many lines.
fn random(lines: usize) -> Bound {
    Bound::AtMost(max_share_alike(lines))
}

/// Minimum share of steps to the next line in ascending order: all but the last.
pub(super) const UPWARDS: Bound = Bound::AtLeast(0.9);

/// The largest pages that the kernel gives without setting them aside.
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
