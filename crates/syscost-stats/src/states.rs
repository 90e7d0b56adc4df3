//! Two states in a histogram of single operations: a CPU that wakes fast or slowly, a path that is
//! taken or not.
//!
//! Single operations are thousands and follow each other, so that a test of significance finds
//! modes in every histogram. Here two heaps count as states only if the valley between them is
//! deep, they are far apart, and neither is a tail.

use super::order::nearest_rank_of_bins;

/// Width of a class, as a factor: 10 %. Finer ones are empty by chance.
const CLASS: f64 = 1.1;

/// Minimum number of operations.
const MIN_OPERATIONS: u64 = 200;

/// Minimum share of the operations in each state; less is a tail.
const MIN_SHARE: f64 = 0.1;

/// Minimum ratio of the states' medians.
const MIN_RATIO: f64 = 1.25;

/// The valley may be this share of the lower peak.
const MAX_VALLEY: f64 = 0.5;

/// The lower peak must rise above the valley by this many times its own statistical error.
const MIN_SIGMAS: f64 = 4.0;

/// Two states of an operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct States {
    /// Median of the operations in the lower state.
    pub low: f64,
    /// Median of those in the higher state.
    pub high: f64,
    /// Share of the operations in the higher state, 0..1.
    pub high_share: f64,
}

/// The two states in this histogram of `(upper bound, count)`, ascending, all bounds in the same
/// unit; `None` if it has one, or too few operations. With more than two, these are the two sides
/// of the deepest valley.
pub fn two_states(histogram: &[(f64, u64)]) -> Option<States> {
    let total: u64 = histogram.iter().map(|(_, count)| count).sum();
    if total < MIN_OPERATIONS {
        return None;
    }
    let class = |value: f64| (value.ln() / CLASS.ln()).floor() as i64;
    let positive = || {
        histogram
            .iter()
            .filter(|(bound, count)| *bound > 0.0 && *count > 0)
    };
    let first = class(positive().next()?.0);
    let mut classes: Vec<u64> = Vec::new();
    for (bound, count) in positive() {
        let index = (class(*bound) - first) as usize;
        classes.resize(classes.len().max(index + 1), 0);
        classes[index] += count;
    }
    let valley = deepest_valley(&classes, total)?;
    let is_low = |bound: f64| class(bound) - first <= valley as i64;
    let (low, high): (Vec<_>, Vec<_>) = positive().copied().partition(|(bound, _)| is_low(*bound));
    let states = States {
        low: nearest_rank_of_bins(&low, 0.5)?,
        high: nearest_rank_of_bins(&high, 0.5)?,
        high_share: high.iter().map(|(_, count)| count).sum::<u64>() as f64 / total as f64,
    };
    (states.high >= MIN_RATIO * states.low).then_some(states)
}

/// The class that is lowest compared with the peaks on both sides of it, if that is a valley.
fn deepest_valley(classes: &[u64], total: u64) -> Option<usize> {
    let mut below = 0;
    let mut deepest: Option<(f64, usize)> = None;
    for (at, count) in classes.iter().enumerate() {
        below += count;
        let share = below as f64 / total as f64;
        let peak = |side: &[u64]| side.iter().copied().max().unwrap_or(0);
        let peak = peak(&classes[..at]).min(peak(&classes[at + 1..])) as f64;
        let depth = *count as f64 / peak.max(1.0);
        let is_valley = (MIN_SHARE..=1.0 - MIN_SHARE).contains(&share)
            && depth <= MAX_VALLEY
            && peak - *count as f64 >= MIN_SIGMAS * peak.sqrt();
        if is_valley && deepest.is_none_or(|(depth_there, _)| depth < depth_there) {
            deepest = Some((depth, at));
        }
    }
    deepest.map(|(_, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The histogram of values, in bins of 1 %.
    fn histogram(values: impl IntoIterator<Item = f64>) -> Vec<(f64, u64)> {
        let mut bins = std::collections::BTreeMap::new();
        for value in values {
            let bin = (value.ln() * 100.0).ceil() as i64;
            *bins.entry(bin).or_insert(0_u64) += 1;
        }
        let bounds = bins
            .into_iter()
            .map(|(bin, count)| ((bin as f64 / 100.0).exp(), count));
        bounds.collect()
    }

    /// Round trips whose logarithm has this standard deviation, around each of these centres as
    /// often as its weight says, and one in fifty of them much longer.
    fn round_trips(seed: u64, count: u64, spread: f64, centres: &[(f64, f64)]) -> Vec<(f64, u64)> {
        let mut rng = fastrand::Rng::with_seed(seed);
        histogram((0..count).map(|_| {
            let mut left = rng.f64();
            let found = centres.iter().find(|(_, weight)| {
                left -= weight;
                left < 0.0
            });
            let normal = (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0;
            let stall = if rng.u8(..50) == 0 {
                1.0 + 20.0 * rng.f64()
            } else {
                1.0
            };
            found.map_or(centres[0].0, |centre| centre.0) * (spread * normal).exp() * stall
        }))
    }

    #[test]
    fn two_heaps_are_named_with_their_shares() {
        for seed in 0..20 {
            let of_two = round_trips(seed, 1_000, 0.08, &[(45e3, 0.4), (85e3, 0.6)]);
            let states = two_states(&of_two).expect("two states");
            assert!((states.low / 45e3 - 1.0).abs() < 0.03, "{states:?}");
            assert!((states.high / 85e3 - 1.0).abs() < 0.03, "{states:?}");
            assert!((states.high_share - 0.6).abs() < 0.06, "{states:?}");
        }
    }

    #[test]
    fn one_heap_with_a_tail_has_one_state_however_many_operations() {
        for count in [200, 1_000, 30_000] {
            for spread in [0.02, 0.1, 0.4] {
                let found = (0..50).filter(|seed| {
                    two_states(&round_trips(*seed, count, spread, &[(20e3, 1.0)])).is_some()
                });
                assert_eq!(found.count(), 0, "{count} {spread}");
            }
        }
    }

    #[test]
    fn a_rare_state_is_a_tail_and_few_operations_show_nothing() {
        let rare = round_trips(1, 10_000, 0.08, &[(45e3, 0.95), (85e3, 0.05)]);
        assert_eq!(two_states(&rare), None);
        let few = round_trips(1, 199, 0.05, &[(45e3, 0.5), (85e3, 0.5)]);
        assert_eq!(two_states(&few), None);
        assert_eq!(two_states(&[]), None);
        assert_eq!(two_states(&[(0.0, 1_000)]), None, "a logarithm of nothing");
    }
}
