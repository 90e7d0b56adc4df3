//! Shared: the claims of pointer chases, and the pages of their memory.

use syscost_harness::prelude::*;
use syscost_stats::order;
use syscost_sys::kernel::{Chase, LINE, Order, Route, Work, max_share_alike};

use super::hierarchy::reported;

/// A cycle of up to this many lines is walked once before anything is timed. The measurement
/// walks only a part of a longer one, of which caches hold no larger share than of the rest.
const WALKED: usize = (64 << 20) / LINE;

/// Upper bound for the cache available to one core, including its part of a shared one, in bytes.
pub(super) const MAX_CACHED: usize = 32 << 20;

/// How often a cycle that fits in a cache is walked beforehand: a cache that receives what another
/// one evicts has its lines only then, and one that is shared with other cores keeps as many of
/// them as are accessed often enough.
const LAPS: u64 = 3;

/// Runs the chains that are to be timed around the cycle, until the caches hold as much of it as
/// they ever will.
pub(super) fn go_round(b: &Bencher, chase: &Chase) {
    if b.is_timed() && chase.route().bytes <= MAX_CACHED {
        chase.run(LAPS * lap(chase));
    }
}

/// The lines looked at twice fill the second-level cache this many times: the second pass finds hardly
/// any of them there, but in the cache behind it, like the first.
const SECOND_LEVELS: f64 = 2.0;

/// Up to this share of the last cache a cycle should lie in it as a whole, though others use it, too.
const HELD: f64 = 0.5;

/// How many pieces the lines are timed in: one that is interrupted does not decide.
const PIECES: u64 = 9;

/// The first pass is longer than the second by less than this factor while nobody displaces lines:
/// some of the second's are in the second-level cache still.
const DISPLACED: f64 = 1.5;

/// The sizes of the second-level cache and of the last one, where the system reports them.
struct Caches {
    second: f64,
    last: f64,
}

impl Caches {
    fn of(b: &Bencher) -> Option<Self> {
        let (second, last) = (
            reported::cache_bytes(&[b.cpu()], 2)?,
            reported::last_bytes(&[b.cpu()])?,
        );
        Some(Self { second, last })
    }

    /// Whether so much lies in the last cache alone.
    fn last_holds(&self, bytes: f64, second_levels: f64) -> bool {
        (second_levels * self.second..=HELD * self.last).contains(&bytes)
    }

    /// Whether a line of each of these pages lies there, with the entries of page tables that lead to them: on
    /// a virtual machine a line of these for each.
    fn last_holds_pages(&self, pages: usize) -> bool {
        self.last_holds((2 * LINE * pages) as f64, 1.0)
    }
}

/// Walks lines twice at once, once the samples are taken. A batch walks a small part of a long
/// cycle, so others may displace a line from a cache they share before it is visited again, which
/// then costs as much as memory. Not so the second time.
pub(super) fn look_again(b: &mut Bencher, chase: &Chase) -> Result<(), Failure> {
    let bytes = chase.route().bytes as f64;
    let caches = Caches::of(b).filter(|caches| caches.last_holds(bytes, SECOND_LEVELS));
    match caches.filter(|_| b.is_timed()) {
        Some(caches) => look_twice(b, chase, &caches, None),
        None => Ok(()),
    }
}

/// As [`look_again`], of lines beside a cycle of so few that the second pass would find all of them near:
/// what is displaced while it goes round are these lines as well as its own and its pages' entries.
pub(super) fn look_beside(b: &mut Bencher, chase: &Chase) -> Result<(), Failure> {
    let caches = Caches::of(b).filter(|caches| caches.last_holds_pages(chase.lines()));
    let Some(caches) = caches.filter(|_| b.is_timed()) else {
        return Ok(());
    };
    let route = Route {
        bytes: (SECOND_LEVELS * caches.second) as usize / LINE * LINE,
        spacing: LINE,
        order: Order::Random(b.random().u64(..)),
    };
    let beside = Chase::new(Memory::fill(route.bytes, Pages::Small)?, route, 1)?;
    beside.run(lap(&beside));
    look_twice(b, &beside, &caches, Some(chase))
}

/// Compares a first pass over lines with a second one at once; with another chase, after each of several
/// laps of that.
fn look_twice(
    b: &mut Bencher,
    chase: &Chase,
    caches: &Caches,
    other: Option<&Chase>,
) -> Result<(), Failure> {
    let steps = (SECOND_LEVELS * caches.second) as u64 / LINE as u64;
    let turns = steps
        .div_ceil(chase.operations_per_iteration())
        .div_ceil(PIECES);
    let pass =
        || -> Result<Vec<f64>, Failure> { (0..PIECES).map(|_| b.time_of(chase, turns)).collect() };
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for _ in 0..other.map_or(1, |_| PIECES) {
        if let Some(other) = other {
            other.run(lap(other));
        }
        first.extend(pass()?);
        chase.go_back(PIECES * turns);
        second.extend(pass()?);
    }
    if let Some(share) = displaced_share(&first, &second) {
        b.displaced(share);
    }
    Ok(())
}

/// How many iterations go round the cycle.
fn lap(chase: &Chase) -> u64 {
    (chase.lines() as u64).div_ceil(chase.operations_per_iteration())
}

/// The share of the time of a first pass that a second does not take, if that is more than chance: of
/// either the quarter in which others displace and slow least.
fn displaced_share(first: &[f64], second: &[f64]) -> Option<f64> {
    let [first, second] = [first, second].map(|pass| order::quantile(pass, 0.25));
    let (first, second) = first.zip(second)?;
    (first > DISPLACED * second).then(|| 1.0 - second / first)
}

const ALIKE_CLAIM: &str = "share of the most frequent distance among the steps";
const WITHIN_CLAIM: &str = "share of steps within a page";

static ALIKE: Witness = Witness::of(ALIKE_CLAIM, "walk");
static WITHIN: Witness = Witness::of(WITHIN_CLAIM, "walk");
static TO_NEXT: Witness = Witness::of("share of steps to the next line", "walk");
static TO_FOURTH: Witness = Witness::of("share of steps to the fourth line from there", "walk");
static SPAN: Witness = Witness::of("bytes from the first to the last line of the walk", "walk");
static CHAINS: Witness = Witness::of("chains whose places the checksum adds up", "kernel");

pub(super) fn look(b: &mut Bencher, chase: &Chase) {
    b.observe(&ALIKE, chase.share_of_most_frequent_step());
    b.observe(&WITHIN, chase.share_within_a_page());
    b.observe(&TO_NEXT, chase.share_of_steps(LINE));
    b.observe(&TO_FOURTH, chase.share_of_steps(FOUR_LINES));
    look_at_span(b, chase);
}

pub(super) fn look_at_span(b: &mut Bencher, chase: &Chase) {
    b.observe(&SPAN, chase.span() as f64);
}

/// Proof by an order of this many lines of this memory that cannot be fetched ahead: no distance is
/// frequent among its steps, and few of them stay on a page.
pub(super) fn in_random_order(Bytes(bytes): Bytes) -> Proof {
    let (lines, bytes) = (bytes as usize / LINE, bytes as usize);
    let is_irregular = ALIKE.within(random(lines));
    is_irregular.and(WITHIN.within(within_a_page(bytes)))
}

/// Proof by steps that lead to the next line.
pub(super) fn line_by_line() -> Proof {
    TO_NEXT.within(UPWARDS)
}

/// Proof by steps that lead to the fourth line from there.
pub(super) fn by_four_lines() -> Proof {
    TO_FOURTH.within(UPWARDS)
}

/// Bytes from a line to the fourth from there.
pub(super) const FOUR_LINES: usize = 4 * LINE;

/// Proof by a walk from end to end of so much memory. Only some of many places are looked at.
pub(super) fn through(Bytes(bytes): Bytes) -> Proof {
    SPAN.within(Bound::Within(MIN_SPAN * bytes as f64, bytes as f64))
}

/// The share of the memory that lies between the lines that are looked at, at least: the next
/// smaller memory is an eighth smaller or more.
const MIN_SPAN: f64 = 0.97;

/// Proof by the number of places that the checksum adds up: a step that overlaps with those of
/// other chains does not take its latency.
pub(super) fn in_chains(chains: usize) -> Proof {
    CHAINS.expects(chains)
}

/// Looks how many chains there are, and claims that loads of a single one follow each other.
pub(super) fn look_at_chains(b: &mut Bencher, chase: &Chase) {
    b.observe(&CHAINS, chase.chains());
    if chase.chains() == 1 {
        claim_one_chain(b, chase);
    }
}

pub(super) fn claim_one_chain(b: &mut Bencher, chase: &Chase) {
    let (all, row) = (
        chase.operations_per_iteration(),
        chase.loads_in_a_row() as u64,
    );
    let claim = "loads of a turn, each from where the one before led";
    b.claim_equal(claim, all, row, "the code's bytes");
}

/// The number of pieces of this many bytes in each of which its cycle has a line. The walk around
/// it also warms the caches. `None` where it would take long; then each page is touched, so that
/// the chase does not use page tables that were never used before.
pub(super) fn visited(b: &Bencher, chase: &Chase, apart: usize) -> Option<usize> {
    if b.is_timed() && chase.lines() > WALKED {
        chase.touch_pages();
        return None;
    }
    Some(match b.is_timed() {
        true => chase.visited_apart(apart),
        false => chase.known_visited_apart(apart),
    })
}

/// Claims that its cycle has this many lines, each in a different piece of this many bytes.
pub(crate) fn claim_lines(b: &mut Bencher, chase: &Chase, lines: usize, apart: usize) {
    if let Some(visited) = visited(b, chase, apart) {
        let claim = format!("lines visited in one round of the chase, {apart} bytes apart");
        b.claim_equal(&claim, lines, visited, "walk");
    }
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
    let (bound, share) = (random(chase.lines()), chase.share_of_most_frequent_step());
    b.claim_within(ALIKE_CLAIM, bound, share, "walk");
    let bound = within_a_page(chase.route().bytes);
    b.claim_within(WITHIN_CLAIM, bound, chase.share_within_a_page(), "walk");
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
const UPWARDS: Bound = Bound::Within(0.9, 1.0);

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
    fn a_first_pass_that_takes_much_longer_than_the_second_met_displaced_lines() {
        let shares = [113.0, 17.0, 18.0, 15.0].map(|ns| displaced_share(&[ns; 9], &[15.0; 9]));
        assert_eq!(shares[1..], [None; 3]);
        assert!(shares[0].is_some_and(|share| (0.86..0.87).contains(&share)));
        let mut interrupted = [15.0; 9];
        interrupted[4] = 4e6;
        assert_eq!(displaced_share(&interrupted, &[15.0; 9]), None);
        // A neighbour that slows some pieces of both passes displaces nothing.
        let restless = [15.0, 15.0, 15.0, 30.0, 30.0, 30.0, 30.0, 30.0, 30.0];
        assert_eq!(displaced_share(&restless, &restless), None);
        // Of the second pass, too, others displace a part.
        let partly = [15.0, 15.0, 15.0, 60.0, 60.0, 60.0, 60.0, 60.0, 60.0];
        assert!(displaced_share(&[70.0; 9], &partly).is_some());
    }

    #[test]
    fn many_pages_lie_in_the_last_cache_though_their_lines_would_fit_the_second() {
        let (zen, golden_cove) = (
            Caches {
                second: 524_288.0,
                last: 33_554_432.0,
            },
            Caches {
                second: 2e6,
                last: 60e6,
            },
        );
        let held = |caches: &Caches| [512, 4096, 65_536].map(|one| caches.last_holds_pages(one));
        assert_eq!(held(&zen), [false, true, true]);
        assert_eq!(held(&golden_cove), [false, false, true]);
        assert!(!zen.last_holds_pages(1 << 20), "memory holds them");
        assert!(zen.last_holds(6e6, SECOND_LEVELS) && !zen.last_holds(524_288.0, SECOND_LEVELS));
    }

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
