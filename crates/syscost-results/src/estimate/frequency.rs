//! The frequency that a run's cores usually ran at.
//!
//! A core's frequency depends on what other cores do and changes in steps of 100 MHz, several
//! times a second, so a cost in ns applies to one frequency.

use syscost_stats::order::median;

use crate::measurement::RoundSamples;

use super::selection::ChosenSamples;

/// Frequencies within this share of each other are the same.
const SAME: f64 = 0.012;

/// Minimum share of the undisturbed samples at one frequency for it to be the usual one.
const MIN_SHARE: f64 = 0.25;

/// Width of a histogram bin, as a share.
const BIN: f64 = 0.002;

/// The known frequencies of the undisturbed samples of these rounds, in GHz.
pub fn known<'a>(rounds: impl IntoIterator<Item = &'a RoundSamples>) -> Vec<f64> {
    let mut known: Vec<f64> = Vec::new();
    for round in rounds {
        let ghz = |(index, _)| round.sample_ghz.get(index).copied();
        known.extend(ChosenSamples::Own.of(round).filter_map(ghz));
    }
    known.retain(|ghz| ghz.is_finite() && *ghz > 0.0);
    known
}

/// The frequency at which most of these samples were taken, or their median if they agree on none;
/// `None` if none is known.
pub fn usual(known: Vec<f64>) -> Option<f64> {
    let middle = median(&known)?;
    Some(mode(known).unwrap_or(middle))
}

/// The densest of these frequencies; `None` if no quarter of them agrees.
pub fn mode(mut known: Vec<f64>) -> Option<f64> {
    known.retain(|ghz| ghz.is_finite() && *ghz > 0.0);
    let bin = |ghz: f64| (ghz.ln() / BIN).round() as i64;
    let mut counts: std::collections::BTreeMap<i64, usize> = Default::default();
    for ghz in &known {
        *counts.entry(bin(*ghz)).or_default() += 1;
    }
    let reach = (SAME / BIN / 2.0) as i64;
    let around = |middle: i64| {
        counts
            .range(middle - reach..=middle + reach)
            .map(|(_, n)| n)
            .sum::<usize>()
    };
    let (middle, count) = counts
        .keys()
        .map(|&middle| (middle, around(middle)))
        .max_by_key(|(_, count)| *count)?;
    if (count as f64) < MIN_SHARE * known.len() as f64 {
        return None;
    }
    known.retain(|ghz| (middle - reach..=middle + reach).contains(&bin(*ghz)));
    median(&known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_samples_decide() {
        let round = |ghz: &[f64]| RoundSamples {
            values: vec![1.0; ghz.len()],
            sample_ghz: ghz.to_vec(),
            ..RoundSamples::default()
        };
        let rounds = [
            round(&[3.9, 3.901, 3.8, 3.6, 0.0]),
            round(&[3.899, 3.6, 3.9]),
        ];
        let usual = usual(known(&rounds)).expect("it is known");
        assert!((usual - 3.9).abs() < 0.002, "{usual}");
    }

    #[test]
    fn a_frequency_that_wanders_has_a_median() {
        let wandering: Vec<f64> = (0..200).map(|n| 1.0 + 0.02 * f64::from(n)).collect();
        assert_eq!(mode(wandering.clone()), None);
        assert_eq!(usual(wandering), Some(2.99));
        assert_eq!(usual(Vec::new()), None);
    }
}
