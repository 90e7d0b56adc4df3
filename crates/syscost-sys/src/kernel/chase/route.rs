//! Where the lines of a chase lie, and in which order they are visited.

use std::ops::RangeInclusive;

use super::super::share_of_most_frequent;
use crate::random;

/// The distance of dense lines, in bytes: that of cache lines on x86-64 and most of aarch64.
pub const LINE: usize = 64;

/// At this distance or more, every line is on a page of its own.
const PAGE: usize = 4096;

/// Lines of a block whose pages are visited in turn.
const BLOCK: usize = PAGE / LINE;

/// Beyond this many bytes a random order by single lines would take longer to make than to measure.
const BY_LINES: usize = 64 << 20;

/// With so few lines a random order may happen to be regular enough for prefetching. With even
/// fewer, every order is.
const FEW: RangeInclusive<usize> = 5..=64;

/// In which order lines are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Random, from this seed: all cycles are equally likely, except that regular orders of few
    /// lines are excluded. Beyond 64 MiB of dense lines, each step goes to a random page and there
    /// to a line that was not visited before, until all lines have been visited.
    Random(u64),
    /// By ascending address.
    Ascending,
    /// Two lines of a block, this many bytes apart, then two of another block, chosen at random.
    /// Where in its block a pair lies, and whether it is visited upwards, is random too: some cores
    /// learn which parts of a block are loaded after its first line, and prefetch them.
    Pairs {
        /// Distance between the two lines in bytes: at least 16, and less than the spacing by at
        /// least a line.
        distance: usize,
        /// Seed of the order of blocks, and of each pair's place and direction.
        seed: u64,
    },
}

/// A cycle's lines and their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// The lines lie in the first this many bytes of the memory.
    pub bytes: usize,
    /// Distance from one line (or block of two) to the next, in bytes: a multiple of 16. At a page
    /// or more, the line's place moves by one line in each page, so that lines of many pages do not
    /// all fall into the same set of a cache.
    pub spacing: usize,
    /// The order in which lines are visited.
    pub order: Order,
}

impl Route {
    /// A route over every line of this many bytes, in this order.
    pub fn dense(bytes: usize, order: Order) -> Self {
        Self {
            bytes,
            spacing: LINE,
            order,
        }
    }

    /// Number of lines.
    pub fn lines(&self) -> usize {
        let spaces = self.bytes / self.spacing;
        match self.order {
            Order::Pairs { .. } => 2 * spaces,
            Order::Random(_) | Order::Ascending => spaces,
        }
    }

    /// Distance from a line (or the first of a block) to the next higher one, in bytes.
    pub fn step(&self) -> usize {
        self.offset(1)
    }

    /// Minimum distance between two lines, in bytes.
    pub(super) fn min_distance(&self) -> usize {
        match self.order {
            Order::Pairs { .. } => 16,
            Order::Random(_) | Order::Ascending => self.spacing.min(LINE),
        }
    }

    /// Offset of the line (or block) of this number, in bytes.
    fn offset(&self, number: usize) -> usize {
        let within = if self.spacing < PAGE {
            0
        } else {
            number * LINE % self.spacing
        };
        number * self.spacing + within
    }
}

/// How an order maps each position to a line.
#[derive(Debug)]
pub(super) enum Sequence {
    /// Position and line are the same.
    Ascending,
    /// The number of the line (or block) at each position.
    Shuffled(Vec<u32>),
    /// Random pages, one line of each, repeated until all lines of a page have been visited. Each
    /// round goes through the table of pages in another order.
    ByPages {
        pages: Vec<u32>,
        /// For each round, the mask that is combined with the number of the step.
        masks: Vec<u32>,
        /// The order of the lines in a page; each page begins at another place in it.
        lines: Vec<u32>,
    },
}

impl Sequence {
    pub(super) fn of(route: &Route) -> Self {
        let spaces = route.bytes / route.spacing;
        match route.order {
            Order::Ascending => Self::Ascending,
            Order::Pairs { seed, .. } => Self::Shuffled(shuffled(spaces, seed)),
            Order::Random(seed) => {
                let pages = route.bytes / PAGE;
                let by_pages = route.spacing == LINE && route.bytes > BY_LINES;
                if !by_pages || !pages.is_power_of_two() {
                    return Self::Shuffled(irregular(spaces, seed));
                }
                Self::ByPages {
                    pages: shuffled(pages, seed),
                    masks: (1..=BLOCK as u64)
                        .map(|round| random::nth(!seed, round) as u32 & (pages as u32 - 1))
                        .collect(),
                    lines: shuffled(BLOCK, seed),
                }
            }
        }
    }

    /// Offset of the line at this position, in bytes from the memory's start.
    #[inline]
    pub(super) fn offset(&self, route: &Route, position: usize) -> usize {
        match (self, route.order) {
            (Self::Ascending, _) => route.offset(position),
            (Self::Shuffled(order), Order::Pairs { distance, seed }) => {
                let block = order[position / 2];
                let word = random::nth(!seed, u64::from(block));
                let places = (route.spacing - distance) / LINE;
                let place = word as usize % places.max(1) * LINE;
                let is_higher = position.is_multiple_of(2) == (word >> 63 == 0);
                route.offset(block as usize) + place + usize::from(is_higher) * distance
            }
            (Self::Shuffled(order), _) => route.offset(order[position] as usize),
            (
                Self::ByPages {
                    pages,
                    masks,
                    lines,
                },
                _,
            ) => {
                // The number of pages is a power of two.
                let round = position >> pages.len().trailing_zeros();
                let step = position & (pages.len() - 1);
                let page = pages[step ^ masks[round] as usize] as usize;
                // Any number will do that differs from page to page.
                let shift = page.wrapping_mul(0x9E37_79B1) >> 16;
                page * PAGE + lines[(round + shift) % BLOCK] as usize * LINE
            }
        }
    }

    /// Positions that visit each page once, all of them before `last`; where lines are shuffled
    /// individually, they visit most pages.
    pub(super) fn one_of_each_page(
        &self,
        route: &Route,
        last: usize,
    ) -> impl Iterator<Item = usize> + use<> {
        let pages = (route.bytes / PAGE).max(1);
        let (first, apart) = match self {
            // In ascending order it takes a whole round to visit all pages.
            Self::Ascending => (last, route.lines().div_ceil(pages)),
            Self::Shuffled(_) => (last + route.lines() - pages, 1),
            // Each round of pages begins at a multiple of their number.
            Self::ByPages { .. } => (last / pages * pages + route.lines() - pages, 1),
        };
        (0..pages).map(move |number| first + number * apart)
    }

    /// All positions, those of a page together, by ascending page: the order in which a long cycle
    /// is written fastest. `None` where the order of positions is good enough.
    pub(super) fn by_place(&self) -> Option<impl Iterator<Item = usize>> {
        let Self::ByPages { pages, masks, .. } = self else {
            return None;
        };
        let mut places = vec![0; pages.len()];
        for (place, page) in pages.iter().enumerate() {
            places[*page as usize] = place;
        }
        Some(places.into_iter().flat_map(move |place| {
            let steps = masks.iter().map(move |mask| place ^ *mask as usize);
            steps
                .enumerate()
                .map(|(round, step)| round * pages.len() + step)
        }))
    }
}

/// Maximum share of steps that may lead equally far in a random order of this many lines. With very
/// few lines many steps may be alike, but not all but one, as in a regular order.
pub fn max_share_alike(lines: usize) -> f64 {
    (0.1 + 6.0 / lines as f64).min(0.75)
}

/// Repeats [`shuffled`] until the order is not regular.
fn irregular(count: usize, seed: u64) -> Vec<u32> {
    let mut order = shuffled(count, seed);
    let mut attempt = 0;
    while FEW.contains(&count) && share_of_steps_alike(&order) > max_share_alike(count) {
        attempt += 1;
        order = shuffled(count, random::nth(seed, attempt));
    }
    order
}

/// The share of the steps around this order that have the most frequent distance.
fn share_of_steps_alike(order: &[u32]) -> f64 {
    let next = order.iter().cycle().skip(1);
    let steps = order.iter().zip(next);
    share_of_most_frequent(
        steps
            .map(|(at, next)| u64::from(next.wrapping_sub(*at)))
            .collect(),
    )
}

/// The numbers below `count` in a random order (Fisher and Yates). Visited cyclically, they make a
/// single cycle, each as likely as any other, as with Sattolo's algorithm.
fn shuffled(count: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count as u32).collect();
    for last in (1..count).rev() {
        let word = random::nth(seed, last as u64);
        // The high half of a product: a random number up to `last`.
        let chosen = (u128::from(word) * (last as u128 + 1)) >> 64;
        order.swap(last, chosen as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_of_few_lines_is_never_regular() {
        let is_regular = |order: &[u32]| share_of_steps_alike(order) > max_share_alike(order.len());
        let seeds = 0..20_000;
        assert!(seeds.clone().any(|seed| is_regular(&shuffled(5, seed))));
        for count in [5, 8, 16] {
            for seed in seeds.clone() {
                let mut order = irregular(count, seed);
                assert!(!is_regular(&order), "{count} {seed}");
                order.sort_unstable();
                assert!(order.into_iter().eq(0..count as u32));
            }
        }
        // There is no other order of so few lines.
        for count in 0..5 {
            assert_eq!(irregular(count, 1), shuffled(count, 1));
        }
    }
}
