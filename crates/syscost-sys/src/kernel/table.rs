//! Tables that decide, while a kernel runs, which way its branches go.

use super::SCRATCH_WORDS;
use crate::random;

/// Targets among which an indirect call or branch with a table chooses.
pub const TARGETS: usize = 16;

/// Bytes of a table: two million directions or 262,144 targets, more than any predictor remembers, and still
/// within a second-level cache.
pub(super) const TABLE_BYTES: usize = 1 << 18;

/// Offset of the table in the kernel's memory, after the working space.
pub(super) const TABLE_OFFSET: usize = SCRATCH_WORDS * 8;

/// Which target an indirect call or branch takes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Targets {
    /// Always the same one: predictable.
    Same,
    /// Each time a random one of [`TARGETS`], from a table made from this seed: predicted 1 time in 16.
    Random(u64),
}

impl Targets {
    /// One byte, the number of the target, for each call or branch.
    pub(super) fn table(self) -> Vec<u8> {
        match self {
            Self::Same => vec![0; TABLE_BYTES],
            Self::Random(seed) => random_words(seed)
                .flat_map(u64::to_le_bytes)
                .map(|byte| byte % TARGETS as u8)
                .collect(),
        }
    }
}

/// Words of independent random bits, as many as a table holds.
pub(super) fn random_words(seed: u64) -> impl Iterator<Item = u64> {
    (1..=TABLE_BYTES as u64 / 8).map(move |step| random::nth(seed, step))
}

/// A kernel's memory: working space, then the table.
pub(super) fn memory_with(table: impl IntoIterator<Item = u64>) -> Vec<u64> {
    std::iter::repeat_n(0, SCRATCH_WORDS).chain(table).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_targets_use_all_targets_about_equally_and_differ_by_seed() {
        let table = Targets::Random(7).table();
        let mut counts = [0_usize; TARGETS];
        table
            .iter()
            .for_each(|&target| counts[usize::from(target)] += 1);
        let mean = TABLE_BYTES / TARGETS;
        // A binomial count of mean 16,384 has a standard deviation of 124.
        assert!(
            counts.iter().all(|count| count.abs_diff(mean) < 800),
            "{counts:?}"
        );
        assert_ne!(table, Targets::Random(8).table());
    }

    #[test]
    fn random_bits_are_fair_and_do_not_follow_each_other() {
        let words: Vec<u64> = random_words(1).collect();
        let bits = words.len() as f64 * 64.0;
        let share = |count: u32| f64::from(count) / bits;
        let ones = share(words.iter().map(|word| word.count_ones()).sum());
        let repeats = share(
            words
                .iter()
                .map(|word| (!(word ^ word.rotate_right(1))).count_ones())
                .sum(),
        );
        // Standard deviation over two million bits: 0.00035.
        assert!(
            (ones - 0.5).abs() < 0.002 && (repeats - 0.5).abs() < 0.002,
            "{ones} {repeats}"
        );
    }
}
