//! When to look at the interval and decide whether to go on.
//!
//! An exact interval has only certain coverages: ten rounds give 97.9 % and so a needlessly wide
//! interval, twelve give 96.1 %, seventeen 95.1 %. So the looks are the numbers of rounds whose
//! exact coverage is closest above 95 %; between two of them, more rounds hardly narrow the
//! interval.
//!
//! Each look is a chance to stop by luck, on medians that happen to be close together, and costs a
//! little coverage. Simulated over 8,000 experiments for each noise of
//! `simulate` of the results and targets from 0.3 % to 10 %, the worst coverage was 93.2 % for
//! the looks up to thirty, 93.8 % for [`CAREFUL`]; [`QUICK`] and [`FULL`] look early, and then
//! require half of the target.

use std::f64::consts::FRAC_PI_2;

use super::order::median;

/// Numbers of rounds at which to look, ascending; their exact coverages are 96.9, 96.1, 96.1, 95.1,
/// 95.9, 95.7, 95.7, 95.3 and 95.1 %.
pub const ALL: [u32; 9] = [6, 9, 12, 17, 20, 25, 30, 37, 51];

/// Looks for the quick and standard profiles, which spend their time on the rows that they can bring
/// to their target. With looks at 9, 17 and 37 as well, the worst coverage was 92.0 %; with these, 93.2 %
/// (three times 4,000 experiments).
pub const QUICK: [u32; 4] = [6, 12, 25, 51];

/// Looks for the full profile.
pub const FULL: [u32; 5] = [6, 9, 12, 17, 25];

/// Looks for the careful profile: no lucky stop before twelve rounds.
pub const CAREFUL: [u32; 5] = [12, 17, 20, 25, 30];

/// The looks from `min` to `max` rounds, inclusive.
pub fn between(min: u32, max: u32) -> impl Iterator<Item = u32> {
    ALL.into_iter()
        .filter(move |look| (min..=max).contains(look))
}

/// A row is given up if its interval would still be this many times too wide after the last look.
const HOPELESS: f64 = 2.0;

/// Before this number of rounds the interval must be within this share of the target: such close
/// agreement is no luck.
const EARLY: u32 = 9;
const EARLY_SHARE: f64 = 0.5;

/// Half width of the 95 % interval of a median over one value, in mean distances from the median,
/// for normally distributed values: the median of n values has a standard error of 1.25 standard
/// deviations over the root of n, and a standard deviation is 1.25 mean distances.
const REACH: f64 = 1.96 * FRAC_PI_2;

/// Decides when a row has enough rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StopRule<'a> {
    /// Numbers of rounds at which to look, ascending.
    pub looks: &'a [u32],
    /// Half width of the interval, relative to the median, that is narrow enough.
    pub target: f64,
    /// Whether to give up rows whose interval will not get there.
    pub gives_up: bool,
}

impl StopRule<'_> {
    /// The maximum number of rounds.
    pub fn last(&self) -> u32 {
        self.looks.last().copied().unwrap_or_default()
    }

    /// Whether a row with this many rounds needs no more. `half_width` gives that of its interval,
    /// relative to the median, if there is one, and `medians` gives those of its rounds, in order;
    /// both are called at looks only.
    pub fn ends(
        &self,
        rounds: u32,
        half_width: impl FnOnce() -> Option<f64>,
        medians: impl FnOnce() -> Vec<f64>,
    ) -> bool {
        if rounds >= self.last() {
            return true;
        }
        let width = match self.looks.contains(&rounds) {
            true => half_width(),
            false => None,
        };
        width.is_some_and(|width| {
            width <= self.target * self.share_at(rounds)
                || (self.gives_up
                    && rounds > self.looks[0]
                    && self.is_hopeless(rounds, width)
                    && is_steady(&medians(), width))
        })
    }

    /// The first look at which rounds with this spread will likely have a narrow enough interval;
    /// `None` if they will not even at the last one. The spread of fewer rounds than the first
    /// look's is not well known: they need the first look.
    pub fn look_for(&self, medians: &[f64]) -> Option<u32> {
        let first = self.looks.first().copied()?;
        if medians.len() < first as usize {
            return Some(first);
        }
        let middle = median(medians)?;
        let distances = medians.iter().map(|one| (one / middle - 1.0).abs());
        let distance = distances.sum::<f64>() / medians.len() as f64;
        let will_do = |look: &u32| {
            let width = REACH * distance / f64::from(*look).sqrt();
            *look as usize >= medians.len() && width <= self.target * self.share_at(*look)
        };
        self.looks.iter().copied().find(will_do)
    }

    /// The share of the target that is narrow enough after this number of rounds.
    fn share_at(&self, rounds: u32) -> f64 {
        if rounds < EARLY { EARLY_SHARE } else { 1.0 }
    }

    /// Whether an interval of this width will still be too wide after the last look: it narrows
    /// with the square root of the number of rounds.
    fn is_hopeless(&self, rounds: u32, width: f64) -> bool {
        let share = f64::from(rounds) / f64::from(self.last());
        width * share.sqrt() > HOPELESS * self.target
    }
}

/// Whether the last third of the rounds differs from the first by no more than the interval's
/// width: a machine that has just become quiet or busy may still show another value.
fn is_steady(medians: &[f64], width: f64) -> bool {
    let third = medians.len() / 3;
    let first = median(&medians[..third]);
    let last = median(&medians[medians.len() - third..]);
    first
        .zip(last)
        .is_some_and(|(first, last)| (last / first).ln().abs() <= width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval;

    #[test]
    fn rounds_end_when_the_interval_is_narrow_or_hopeless() {
        let patient = StopRule {
            looks: &FULL,
            target: 0.02,
            gives_up: false,
        };
        let hasty = StopRule {
            gives_up: true,
            ..patient
        };
        let even = || vec![1.0; 12];
        for rule in [patient, hasty] {
            assert!(rule.ends(9, || Some(0.02), even));
            assert!(rule.ends(6, || Some(0.01), even));
            assert!(!rule.ends(6, || Some(0.02), even), "early");
            assert!(!rule.ends(10, || Some(0.02), even), "no look");
            assert!(!rule.ends(12, || Some(0.05), even), "0.035 after 25");
            assert!(!rule.ends(12, || None, even), "no interval");
            assert!(rule.ends(25, || None, even), "the last look");
        }
        assert!(hasty.ends(12, || Some(0.06), even), "0.042 after 25");
        assert!(
            !hasty.ends(6, || Some(0.06), even),
            "the first look is early"
        );
        assert!(!patient.ends(12, || Some(0.06), even));
        let quiet_at_last = || [vec![1.5; 9], vec![1.0; 3]].concat();
        assert!(!hasty.ends(12, || Some(0.06), quiet_at_last));
    }

    #[test]
    fn as_many_rounds_are_foreseen_as_their_scatter_needs() {
        let rule = StopRule {
            looks: &QUICK,
            target: 0.02,
            gives_up: true,
        };
        // Values that far from 1, on both sides: 3.08 times that over the root of the look.
        let apart = |share: f64, count: usize| -> Vec<f64> {
            let side = |index: usize| if index.is_multiple_of(2) { 1.0 } else { -1.0 };
            (0..count).map(|index| 1.0 + share * side(index)).collect()
        };
        assert_eq!(rule.look_for(&[]), Some(6));
        assert_eq!(rule.look_for(&apart(0.5, 5)), Some(6), "little is known");
        assert_eq!(rule.look_for(&apart(0.001, 6)), Some(6));
        assert_eq!(
            rule.look_for(&apart(0.012, 6)),
            Some(12),
            "0.015 after 6 is no half of 0.02"
        );
        assert_eq!(rule.look_for(&apart(0.012, 8)), Some(12));
        assert_eq!(rule.look_for(&apart(0.03, 8)), Some(25));
        assert_eq!(rule.look_for(&apart(0.06, 8)), None);
    }

    #[test]
    fn every_look_covers_little_more_than_asked() {
        for look in ALL {
            let coverage = interval::ranks(look as usize, 0.5).unwrap().coverage;
            assert!((0.95..0.97).contains(&coverage), "{look}: {coverage}");
        }
        for profile in [&QUICK[..], &FULL, &CAREFUL] {
            assert!(profile.is_sorted() && profile.iter().all(|look| ALL.contains(look)));
        }
    }

    #[test]
    fn between_takes_both_ends() {
        assert_eq!(between(9, 20).collect::<Vec<_>>(), [9, 12, 17, 20]);
        assert_eq!(between(7, 8).count(), 0);
    }
}
