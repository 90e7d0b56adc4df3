//! Where the lines of a chase lie, and in which order they are visited.

use std::ops::RangeInclusive;

use super::super::share_of_most_frequent;
use super::super::table::random_word;

/// The distance of dense lines, in bytes: that of cache lines on x86-64 and most of aarch64.
pub const LINE: usize = 64;

/// From this distance on lines lie on pages of their own.
const PAGE: usize = 4096;

/// Lines of a block whose pages are visited in turn.
const BLOCK: usize = PAGE / LINE;

/// Beyond this many bytes a random order by single lines would take longer to make than to measure.
const BY_LINES: usize = 64 << 20;

/// Among so few lines an order may by chance be regular, one that could be fetched ahead of. Of even fewer every order is.
const FEW: RangeInclusive<usize> = 5..=64;

/// In which order lines are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// At random, from this seed: all cycles are equally likely, but of few lines those that are regular are not taken. Beyond 64 MiB of dense lines,
    /// each step goes to a random page and there to a line that was not visited before, until all were.
    Random(u64),
    /// Upwards.
    Ascending,
    /// Two lines of each block, this many bytes apart, then two of another block by chance. Where in its block a pair lies, and whether it is
    /// gone through upwards, is by chance too: some cores learn what of a block is loaded after its first line, and fetch it ahead.
    Pairs {
        /// From one to the other, in bytes: 16 at least, and at least a line less than the spacing.
        distance: usize,
        /// What decides the order of blocks, and of each the place and the direction.
        seed: u64,
    },
}

/// A cycle's lines and their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// This many bytes from the memory's start have lines.
    pub bytes: usize,
    /// From one line (or block of two) to the next, in bytes: a multiple of 16. From a page on, the line moves on by one in each page, so
    /// that lines of many pages do not all fall into the same set of a cache.
    pub spacing: usize,
    /// The order.
    pub order: Order,
}

impl Route {
    /// Every line of this many bytes, in this order.
    pub fn dense(bytes: usize, order: Order) -> Self {
        Self {
            bytes,
            spacing: LINE,
            order,
        }
    }

    /// How many lines there are.
    pub fn lines(&self) -> usize {
        let spaces = self.bytes / self.spacing;
        match self.order {
            Order::Pairs { .. } => 2 * spaces,
            Order::Random(_) | Order::Ascending => spaces,
        }
    }

    /// From a line (or the first of a block) to the one behind it, in bytes.
    pub fn step(&self) -> usize {
        self.offset(1)
    }

    /// No two lines begin nearer to each other, in bytes.
    pub(super) fn least_distance(&self) -> usize {
        match self.order {
            Order::Pairs { .. } => 16,
            Order::Random(_) | Order::Ascending => self.spacing.min(LINE),
        }
    }

    /// Where the line (or block) of this number is, in bytes.
    fn offset(&self, number: usize) -> usize {
        let within = if self.spacing < PAGE {
            0
        } else {
            number * LINE % self.spacing
        };
        number * self.spacing + within
    }
}

/// What an order needs to tell, for each position, which line it is.
#[derive(Debug)]
pub(super) enum Sequence {
    /// The lines' own order.
    Ascending,
    /// The number of the line (or block) at each position.
    Shuffled(Vec<u32>),
    /// Random pages, a line each, as often as a page has lines. The table of pages is read anew in each round, from another place.
    ByPages {
        pages: Vec<u32>,
        /// What the number of the step is combined with, for each round.
        masks: Vec<u32>,
        /// The order of a page's lines; each page begins elsewhere in it.
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
                        .map(|round| random_word(!seed, round) as u32 & (pages as u32 - 1))
                        .collect(),
                    lines: shuffled(BLOCK, seed),
                }
            }
        }
    }

    /// Where the line of this position is, in bytes from the memory's start.
    #[inline]
    pub(super) fn offset(&self, route: &Route, position: usize) -> usize {
        match (self, route.order) {
            (Self::Ascending, _) => route.offset(position),
            (Self::Shuffled(order), Order::Pairs { distance, seed }) => {
                let block = order[position / 2];
                let word = random_word(!seed, u64::from(block));
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
                // Their number is a power of two.
                let round = position >> pages.len().trailing_zeros();
                let step = position & (pages.len() - 1);
                let page = pages[step ^ masks[round] as usize] as usize;
                // Any number will do that differs from page to page.
                let shift = page.wrapping_mul(0x9E37_79B1) >> 16;
                page * PAGE + lines[(round + shift) % BLOCK] as usize * LINE
            }
        }
    }

    /// Positions that come by each page once, all of them before this one; where lines are shuffled singly, by most pages.
    pub(super) fn one_of_each_page(
        &self,
        route: &Route,
        last: usize,
    ) -> impl Iterator<Item = usize> + use<> {
        let pages = (route.bytes / PAGE).max(1);
        let (first, apart) = match self {
            // Upwards it takes a whole round to come by all pages.
            Self::Ascending => (last, route.lines().div_ceil(pages)),
            Self::Shuffled(_) => (last + route.lines() - pages, 1),
            // Each round of pages begins at a multiple of their number.
            Self::ByPages { .. } => (last / pages * pages + route.lines() - pages, 1),
        };
        (0..pages).map(move |number| first + number * apart)
    }

    /// All positions, those of a page together, and pages upwards: the order in which long cycles are written soonest. `None` where the
    /// order of positions will do.
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

/// The share of the steps that may lead equally far in a random order of this many lines. Of very
/// few lines many are alike by chance, but not all but one, as in a regular order.
pub fn most_alike(lines: usize) -> f64 {
    (0.1 + 6.0 / lines as f64).min(0.75)
}

/// [`shuffled`] anew until the order is not regular.
fn irregular(count: usize, seed: u64) -> Vec<u32> {
    let mut order = shuffled(count, seed);
    let mut attempt = 0;
    while FEW.contains(&count) && share_of_steps_alike(&order) > most_alike(count) {
        attempt += 1;
        order = shuffled(count, random_word(seed, attempt));
    }
    order
}

/// The share of the steps around this order that lead equally far, of the distance that is most frequent.
fn share_of_steps_alike(order: &[u32]) -> f64 {
    let next = order.iter().cycle().skip(1);
    let steps = order.iter().zip(next);
    share_of_most_frequent(
        steps
            .map(|(at, next)| u64::from(next.wrapping_sub(*at)))
            .collect(),
    )
}

/// The numbers below `count` in a random order (Fisher and Yates). Visited one after the other and then again, they make a single cycle,
/// each as likely as any other, as Sattolo's algorithm does.
fn shuffled(count: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count as u32).collect();
    for last in (1..count).rev() {
        let word = random_word(seed, last as u64);
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
        let is_regular = |order: &[u32]| share_of_steps_alike(order) > most_alike(order.len());
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
        // There is no other order of these.
        for count in 0..5 {
            assert_eq!(irregular(count, 1), shuffled(count, 1));
        }
    }
}
