//! Tracks which of the numbered datagrams arrived, which arrived twice, and which were reordered.

use super::Order;

/// Number of datagrams below the highest that are remembered, with a bit each: a power of two.
const WINDOW: u64 = 1 << 16;

/// Tracks the numbers of datagrams as they arrive.
#[derive(Debug, Default)]
pub struct Ledger {
    order: Order,
    came: Window,
}

impl Ledger {
    /// Adds a number; returns whether it arrived for the first time. One that is more than 65536 below
    /// the highest always counts as such.
    #[inline]
    pub fn take(&mut self, number: u64) -> bool {
        let order = &mut self.order;
        if number >= order.expected {
            // Those between have not arrived yet; their bits are of numbers long ago.
            let skipped = order.expected.max(number.saturating_sub(WINDOW))..number;
            skipped.for_each(|missing| self.came.clear(missing));
            order.expected = number.saturating_add(1);
        } else if order.expected - number <= WINDOW && self.came.has(number) {
            order.duplicated += 1;
            return false;
        } else {
            order.reordered += 1;
        }
        order.distinct += 1;
        if order.expected - number <= WINDOW {
            self.came.set(number);
        }
        true
    }

    /// The counts so far.
    pub fn order(&self) -> Order {
        self.order
    }
}

/// A bit for each of the latest numbers, at the number modulo [`WINDOW`].
#[derive(Debug)]
struct Window(Box<[u64; (WINDOW / 64) as usize]>);

impl Default for Window {
    fn default() -> Self {
        Self(Box::new([0; (WINDOW / 64) as usize]))
    }
}

impl Window {
    fn has(&self, number: u64) -> bool {
        let (word, bit) = Self::place(number);
        self.0[word] & bit != 0
    }

    fn set(&mut self, number: u64) {
        let (word, bit) = Self::place(number);
        self.0[word] |= bit;
    }

    fn clear(&mut self, number: u64) {
        let (word, bit) = Self::place(number);
        self.0[word] &= !bit;
    }

    fn place(number: u64) -> (usize, u64) {
        let place = number % WINDOW;
        ((place / 64) as usize, 1 << (place % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(numbers: impl IntoIterator<Item = u64>) -> Order {
        let mut ledger = Ledger::default();
        for number in numbers {
            ledger.take(number);
        }
        ledger.order()
    }

    #[test]
    fn loss_duplication_and_reordering_are_distinguished() {
        let plain = order(0..200_000);
        assert_eq!((plain.lost(), plain.duplicated, plain.reordered), (0, 0, 0));
        let lossy = order((0..200_000).filter(|number| number % 20 != 7));
        assert_eq!((lossy.lost(), lossy.reordered), (10_000, 0));
        assert_eq!(lossy.expected, 200_000);
        let duplicated = order((0..1000).flat_map(|number| [number, number]));
        assert_eq!((duplicated.lost(), duplicated.duplicated), (0, 1000));
        // Neighbours change places.
        let swapped = order((0..1000).map(|number| number ^ 1));
        assert_eq!((swapped.lost(), swapped.reordered), (0, 500));
        assert_eq!(swapped.duplicated, 0);
    }

    #[test]
    fn a_late_datagram_is_not_lost_and_a_duplicate_is_not_late() {
        let mut ledger = Ledger::default();
        for number in [0, 1, 5, 2] {
            assert!(ledger.take(number));
        }
        assert!(!ledger.take(2));
        assert_eq!(ledger.order().lost(), 2, "3 and 4");
        // After a jump, the bits of long ago mean nothing.
        assert!(ledger.take(5 + 3 * WINDOW));
        assert!(ledger.take(3 * WINDOW));
        assert!(!ledger.take(3 * WINDOW));
        assert!(ledger.take(3), "too late to be recognised as a duplicate");
        assert!(ledger.take(u64::MAX - 1), "any number does no harm");
    }
}
