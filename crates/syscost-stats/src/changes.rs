//! Finds where the level of a series changed.
//!
//! E-divisive after Matteson and James (2014), "A nonparametric approach for multiple change point
//! analysis of multivariate data", in the windowed form of Fleming et al. (2023), "Hunter: using
//! change point detection to hunt for performance regressions". In overlapping windows, the point
//! that divides best, by the energy distance of its sides, is accepted while a lenient test agrees;
//! then, over the whole series, the weakest points are removed until all pass a strict test. The
//! test is that of Mann and Whitney where Hunter has Student's: costs are not normal, and one
//! outlier must not create or hide a change. Nothing is random: equal series give equal results.

use std::f64::consts::PI;

use super::normal;
use super::order::{iqr, median};
use super::rank::{mann_whitney, ranks};
use super::series::autocorrelation;

/// Number of values in a window; windows overlap by half.
const WINDOW: usize = 60;
/// Minimum number of values on each side of a change: fewer are an episode, not a level.
const MIN_VALUES_PER_LEVEL: usize = 5;
/// Minimum number of values in which a change can be found: two levels.
pub const MIN_VALUES: usize = 2 * MIN_VALUES_PER_LEVEL;
/// p-value that a point must pass within its window to become a candidate.
const LENIENT: f64 = 0.02;
/// p-value that a candidate must pass among the remaining ones. It is far below 0.05, because the
/// best of some fifty places is tested, in some two hundred metrics.
const STRICT: f64 = 0.0005;
/// Minimum size of a reported change, as a share of the level before.
const MIN_CHANGE: f64 = 0.02;
/// Minimum size of a change, as a share of the wider interquartile range of its two levels: a
/// series that always wanders this much has not changed.
const MIN_SHARE_OF_SPREAD: f64 = 1.0;

/// A change between two values of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelChange {
    /// Index of the first value of the new level.
    pub index: usize,
    /// Median of the level before, since the previous change.
    pub before: f64,
    /// Median of the level after, up to the next change.
    pub after: f64,
    /// p-value of the rank test between the two levels, corrected for the autocorrelation of
    /// neighbours but not for the choice of the place.
    pub p_value: f64,
}

/// The changes of a series, in order. Values must be finite; fewer than ten have no change.
pub fn changes(values: &[f64]) -> Vec<LevelChange> {
    // Costs differ by factors, so distances are between logarithms if all values are positive.
    let scaled: Vec<f64> = if values.iter().all(|&value| value > 0.0) {
        values.iter().map(|value| value.ln()).collect()
    } else {
        values.to_vec()
    };
    let mut places = Vec::new();
    let mut start = 0;
    loop {
        let end = (start + WINDOW).min(values.len());
        divide(&scaled[start..end], start, &mut places);
        if end == values.len() {
            break;
        }
        start += WINDOW / 2;
    }
    places.sort_unstable();
    places.dedup();
    strongest(values, places)
}

/// Finds the places that divide a window, recursively within its parts.
fn divide(window: &[f64], offset: usize, places: &mut Vec<usize>) {
    let Some(split) = best_split(window) else {
        return;
    };
    let (left, right) = window.split_at(split);
    // An episode at the edge is not a level; the rest may contain a change all the same.
    if left.len() < MIN_VALUES_PER_LEVEL {
        return divide(right, offset + split, places);
    }
    if right.len() < MIN_VALUES_PER_LEVEL {
        return divide(left, offset, places);
    }
    if mann_whitney(left, right) > LENIENT {
        return;
    }
    places.push(offset + split);
    divide(left, offset, places);
    divide(right, offset + split, places);
}

/// The place that divides the values best: the largest energy distance of its sides, weighted by
/// their lengths.
fn best_split(values: &[f64]) -> Option<usize> {
    let count = values.len();
    if count < MIN_VALUES {
        return None;
    }
    let distances_to = |index: usize, range: std::ops::Range<usize>| -> f64 {
        values[range]
            .iter()
            .map(|value| (value - values[index]).abs())
            .sum()
    };
    // Sums of distances within the left side, within the right side and between them, as one value
    // after another moves to the left.
    let mut within_left = 0.0;
    let mut within_right: f64 = (0..count).map(|i| distances_to(i, i + 1..count)).sum();
    let mut between = 0.0;
    let mut best: Option<(f64, usize)> = None;
    for split in 1..count {
        let moved = split - 1;
        let to_left = distances_to(moved, 0..moved);
        let to_right = distances_to(moved, split..count);
        within_left += to_left;
        within_right -= to_right;
        between += to_right - to_left;
        // A single value has no distances within.
        if split < 2 || count - split < 2 {
            continue;
        }
        let (n, m) = (split as f64, (count - split) as f64);
        let energy = 2.0 * between / (n * m)
            - 2.0 * within_left / (n * (n - 1.0))
            - 2.0 * within_right / (m * (m - 1.0));
        let weighted = n * m / (n + m) * energy;
        if best.is_none_or(|(largest, _)| weighted > largest) {
            best = Some((weighted, split));
        }
    }
    best.map(|(_, split)| split)
}

/// Removes the weakest place until all remaining ones are changes.
fn strongest(values: &[f64], mut places: Vec<usize>) -> Vec<LevelChange> {
    loop {
        let changes: Vec<LevelChange> = (0..places.len())
            .filter_map(|number| change_at(values, &places, number))
            .collect();
        let weakest = changes
            .iter()
            .enumerate()
            .filter(|(number, change)| !stands(values, &places, *number, change))
            // Of equally weak ones the later is removed.
            .max_by(|(_, a), (_, b)| a.p_value.total_cmp(&b.p_value));
        match weakest {
            Some((number, _)) => drop(places.remove(number)),
            None => return changes,
        }
    }
}

/// The levels on both sides of a place, each up to the next place.
fn sides<'a>(values: &'a [f64], places: &[usize], number: usize) -> (&'a [f64], &'a [f64]) {
    let from = number.checked_sub(1).map_or(0, |before| places[before]);
    let to = places.get(number + 1).copied().unwrap_or(values.len());
    (&values[from..places[number]], &values[places[number]..to])
}

fn change_at(values: &[f64], places: &[usize], number: usize) -> Option<LevelChange> {
    let (before, after) = sides(values, places, number);
    Some(LevelChange {
        index: places[number],
        before: median(before)?,
        after: median(after)?,
        p_value: corrected(before, after),
    })
}

/// The rank test's p-value with its normal score reduced to the number of independent values, given
/// the autocorrelation: a machine's state lasts longer than a run.
fn corrected(before: &[f64], after: &[f64]) -> f64 {
    let p_value = mann_whitney(before, after);
    let around = |side: &[f64]| {
        let middle = median(side).unwrap_or(0.0);
        side.iter()
            .map(|value| value - middle)
            .collect::<Vec<f64>>()
    };
    // Of ranks, like the test itself: two adjacent outliers do not make a series autocorrelated.
    let rest = ranks(&[around(before), around(after)].concat());
    let of_ranks = autocorrelation(&rest).unwrap_or(0.0).clamp(0.0, 1.0);
    // The correlation of normal values whose ranks have this correlation (Pearson 1907).
    let likeness = (2.0 * (PI / 6.0 * of_ranks).sin()).min(0.95);
    // The p-value may be too small for a floating-point number.
    let score = normal::quantile((p_value / 2.0).max(1e-300));
    2.0 * normal::cdf(score * ((1.0 - likeness) / (1.0 + likeness)).sqrt())
}

fn stands(values: &[f64], places: &[usize], number: usize, change: &LevelChange) -> bool {
    let (before, after) = sides(values, places, number);
    let size = (change.after - change.before).abs();
    let spread = iqr(before).unwrap_or(0.0).max(iqr(after).unwrap_or(0.0));
    before.len() >= MIN_VALUES_PER_LEVEL
        && after.len() >= MIN_VALUES_PER_LEVEL
        && change.p_value <= STRICT
        && size > MIN_CHANGE * change.before.abs()
        && size > MIN_SHARE_OF_SPREAD * spread
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::random;

    /// Series without a change: what a metric does while nothing is changed.
    #[derive(Debug, Clone, Copy)]
    enum Still {
        /// Normal noise of 3 %.
        Even,
        /// Exponential tails of 10 %, and one value in twenty twice as high.
        Tailed,
        /// One of two levels 20 % apart, at random.
        Lumpy,
        /// Autocorrelated: lag-1 correlation 0.5, 5 %.
        Wandering,
    }

    const ALL: [Still; 4] = [Still::Even, Still::Tailed, Still::Lumpy, Still::Wandering];

    #[test]
    fn two_outliers_side_by_side_hide_no_step() {
        let mut values: Vec<f64> = (0..30)
            .map(|run| {
                let level = if run < 18 { 83.0 } else { 107.0 };
                level + [0.4, -0.6, 0.1, 0.9, -0.3][run % 5]
            })
            .collect();
        values[14] = 92.1;
        values[15] = 94.1;
        let found = changes(&values);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].index, 18);
    }

    fn series(noise: Still, count: usize, rng: &mut fastrand::Rng) -> Vec<f64> {
        let mut state = random(rng);
        let value = |_| {
            let factor = match noise {
                Still::Even => 1.0 + 0.03 * random(rng),
                Still::Tailed if rng.f64() < 0.05 => 2.0,
                Still::Tailed => 1.0 - 0.1 * (1.0 - rng.f64()).ln(),
                Still::Lumpy if rng.bool() => 1.2 + 0.01 * random(rng),
                Still::Lumpy => 1.0 + 0.01 * random(rng),
                Still::Wandering => {
                    state = 0.5 * state + 0.75_f64.sqrt() * random(rng);
                    1.0 + 0.05 * state
                }
            };
            100.0 * factor
        };
        (0..count).map(value).collect()
    }

    /// Share of unchanged series in which a change is found.
    fn false_alarms(noise: Still, count: usize, experiments: u32) -> f64 {
        let mut rng = fastrand::Rng::with_seed(7);
        let alarms = (0..experiments)
            .filter(|_| !changes(&series(noise, count, &mut rng)).is_empty())
            .count();
        alarms as f64 / f64::from(experiments)
    }

    #[test]
    fn a_series_that_stands_still_rarely_alarms() {
        for count in [12, 40, 200] {
            for noise in ALL {
                let share = false_alarms(noise, count, 500);
                println!(
                    "{noise:?}, {count} values: {:.1} % with a false change",
                    100.0 * share
                );
                // Autocorrelated series are the hardest: a stronger correction would hide steps
                // next to outliers.
                assert!(share <= 0.03, "{noise:?} {count}: {share}");
            }
        }
    }

    #[test]
    fn a_step_is_found_at_its_place() {
        let mut rng = fastrand::Rng::with_seed(3);
        // With autocorrelation, forty values are too few to distinguish a step from wandering.
        let places = [(200, 130), (200, 190), (40, 20), (40, 30)];
        for (noise, step, places) in [
            (Still::Even, 1.1, &places[..]),
            (Still::Tailed, 1.4, &places[..]),
            (Still::Wandering, 1.3, &places[..1]),
        ] {
            for &(count, at) in places {
                let (mut found, mut near) = (0, 0);
                for _ in 0..100 {
                    let mut values = series(noise, count, &mut rng);
                    values[at..].iter_mut().for_each(|value| *value *= step);
                    let changes = changes(&values);
                    found += u32::from(!changes.is_empty());
                    near += u32::from(
                        matches!(changes[..], [change] if change.index.abs_diff(at) <= 2
                            && (change.after / change.before / step - 1.0).abs() < 0.15),
                    );
                }
                println!(
                    "{noise:?} times {step} at {at} of {count}: {found} % found, {near} % alone and in place"
                );
                assert!(
                    near >= 80,
                    "{noise:?} times {step} at {at} of {count}: {found}, {near}"
                );
            }
        }
    }

    #[test]
    fn several_steps_are_found_across_windows() {
        let mut rng = fastrand::Rng::with_seed(9);
        let mut values = series(Still::Even, 300, &mut rng);
        values[59..120].iter_mut().for_each(|value| *value *= 1.2);
        values[240..].iter_mut().for_each(|value| *value *= 0.8);
        let places: Vec<usize> = changes(&values).iter().map(|change| change.index).collect();
        assert_eq!(places, [59, 120, 240]);
    }

    #[test]
    fn what_is_too_small_too_short_or_an_episode_is_no_change() {
        let level = |value: f64, count: usize| std::iter::repeat_n(value, count);
        let of = |values: Vec<f64>| changes(&values).len();
        assert_eq!(of(Vec::new()), 0);
        assert_eq!(of(level(5.0, 100).collect()), 0);
        assert_eq!(of(level(100.0, 20).chain(level(101.9, 20)).collect()), 0);
        assert_eq!(of(level(100.0, 20).chain(level(102.1, 20)).collect()), 1);
        assert_eq!(of(level(100.0, 40).chain(level(150.0, 4)).collect()), 0);
        assert_eq!(of(level(100.0, 40).chain(level(150.0, 5)).collect()), 1);
        assert_eq!(of(level(0.0, 40).chain(level(-1.0, 40)).collect()), 1);
        let episode = level(100.0, 30)
            .chain(level(200.0, 3))
            .chain(level(100.0, 30));
        assert_eq!(of(episode.collect()), 0);
    }
}
