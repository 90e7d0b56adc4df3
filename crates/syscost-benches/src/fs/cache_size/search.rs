//! The sizes of a file that are tried.

/// The smallest unit of a size, in bytes.
const UNIT: u64 = 1 << 20;

/// Sizes per octave: 4, 5, 6 and 7 times a power of two.
const OCTAVE: u32 = 4;

/// The first size tried, as a number for [`size`]: 16 MiB.
const FIRST: u32 = 2 * OCTAVE;

/// The largest size, likewise: 1 PiB.
const LAST: u32 = 28 * OCTAVE;

/// Sizes are doubled while they are below this share of what memory is expected to hold.
const FAR_BELOW: f64 = 0.75;

/// The size of this number, in bytes.
fn size(number: u32) -> u64 {
    u64::from(OCTAVE + number % OCTAVE) * (UNIT << (number / OCTAVE))
}

/// A search for the largest size that the cache keeps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Search {
    /// What memory is expected to hold, in bytes.
    expected: u64,
    /// Numbers of the largest size that the cache kept and of the smallest that it did not.
    kept: Option<u32>,
    lost: Option<u32>,
    next: Option<u32>,
}

impl Search {
    /// A search that expects the cache to hold this many bytes.
    pub(super) fn new(expected: u64) -> Self {
        Self {
            expected,
            kept: None,
            lost: None,
            next: Some(FIRST),
        }
    }

    /// The size to be tried next, in bytes; `None` if the limit is known to lie between two
    /// neighbouring sizes.
    pub(super) fn next(&self) -> Option<u64> {
        self.next.map(size)
    }

    /// Records whether the cache kept the last size.
    pub(super) fn note(&mut self, is_kept: bool) {
        match is_kept {
            true => self.kept = self.next,
            false => self.lost = self.next,
        }
        self.next = match (self.kept, self.lost) {
            (None, None) => Some(FIRST),
            (None, Some(lost)) => lost.checked_sub(1),
            (Some(kept), None) => Some(self.larger_than(kept)).filter(|next| *next <= LAST),
            (Some(kept), Some(lost)) => (kept + 1 < lost).then(|| kept.midpoint(lost)),
        };
    }

    fn larger_than(&self, kept: u32) -> u32 {
        let double = kept + OCTAVE;
        match (size(double) as f64) < FAR_BELOW * self.expected as f64 {
            true => double,
            false => kept + 1,
        }
    }

    /// The largest size that the cache kept, in bytes.
    pub(super) fn kept(&self) -> Option<u64> {
        self.kept.map(size)
    }

    /// The smallest size that it did not keep, in bytes.
    pub(super) fn lost(&self) -> Option<u64> {
        self.lost.map(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes that are tried with a cache of this many MiB, and the result, in MiB.
    fn found(expected: u64, cache: u64) -> (Vec<u64>, Option<u64>, Option<u64>) {
        let mut search = Search::new(expected << 20);
        let mut tried = Vec::new();
        while let Some(next) = search.next() {
            tried.push(next >> 20);
            assert!(tried.len() < 200);
            search.note(next <= cache << 20);
        }
        let mib = |bytes: Option<u64>| bytes.map(|bytes| bytes >> 20);
        (tried, mib(search.kept()), mib(search.lost()))
    }

    #[test]
    fn sizes_double_until_they_come_near_and_the_neighbours_of_the_knee_are_found() {
        let (tried, kept, lost) = found(245, 240);
        assert_eq!(tried, [16, 32, 64, 128, 160, 192, 224, 256]);
        assert_eq!((kept, lost), (Some(224), Some(256)));
    }

    #[test]
    fn a_cache_smaller_than_expected_is_found_within_an_octave() {
        let (tried, kept, lost) = found(2000, 100);
        assert_eq!(tried, [16, 32, 64, 128, 96, 112]);
        assert_eq!((kept, lost), (Some(96), Some(112)));
        assert_eq!(found(2000, 4).1, Some(4));
        assert_eq!(found(2000, 1).1, None);
    }

    #[test]
    fn a_cache_larger_than_expected_is_found_as_well() {
        let (_, kept, lost) = found(100, 700);
        assert_eq!((kept, lost), (Some(640), Some(768)));
    }

    #[test]
    fn sizes_grow_from_number_to_number() {
        assert_eq!(size(0), 4 << 20);
        assert!((0..LAST).all(|number| size(number) < size(number + 1)));
    }
}
