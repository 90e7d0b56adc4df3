//! The frequency that the core mostly ran at, and the samples that were taken at another.
//!
//! A core's frequency depends on what its neighbours do, in steps of 100 MHz and several in a second, so a cost in ns means one frequency. Samples of
//! another are left out as long as there are others; else [`selection`](super::selection) may convert them.

use crate::measurement::{Cause, Disturbance, RoundSamples};

use super::selection::Choice;

/// Frequencies within this share of each other are the same.
const SAME: f64 = 0.012;

/// The share of the undisturbed samples that must be of one frequency for it to be the usual one.
const MIN_SHARE: f64 = 0.25;

/// Width of a bin of the histogram, as a share.
const BIN: f64 = 0.002;

/// The frequency that most undisturbed samples of these rounds were taken at, in GHz; `None` where they agree on none.
pub fn usual_ghz<'a>(rounds: impl IntoIterator<Item = &'a RoundSamples>) -> Option<f64> {
    let mut known: Vec<f64> = Vec::new();
    for round in rounds {
        let ghz = |(index, _)| round.sample_ghz.get(index).copied();
        known.extend(Choice::AnyFrequency.of(round).filter_map(ghz));
    }
    mode(known)
}

/// The densest of these frequencies; `None` where no quarter of them agrees.
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
    crate::stats::order::median(&known)
}

/// Whether two frequencies are the same.
pub fn are_same(one: f64, other: f64) -> bool {
    (one / other).ln().abs() <= SAME
}

/// Tags the samples that were taken at another frequency than the usual one.
pub fn tag(rounds: &mut [RoundSamples], usual_ghz: f64) {
    for round in rounds {
        round.usual_ghz = Some(usual_ghz);
        let others = round.sample_ghz.iter().enumerate();
        let others = others.filter(|(_, ghz)| !are_same(**ghz, usual_ghz));
        round.disturbed.extend(others.map(|(index, _)| Disturbance {
            sample: index as u32,
            cause: Cause::OtherFrequency,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(ghz: &[f64]) -> RoundSamples {
        RoundSamples {
            values: vec![1.0; ghz.len()],
            sample_ghz: ghz.to_vec(),
            ..RoundSamples::default()
        }
    }

    #[test]
    fn most_samples_decide_and_the_others_are_tagged() {
        let mut rounds = [round(&[3.9, 3.901, 3.8, 3.6]), round(&[3.899, 3.6, 3.9])];
        let usual = usual_ghz(&rounds).expect("most agree");
        assert!((usual - 3.9).abs() < 0.002, "{usual}");
        tag(&mut rounds, usual);
        let tagged = |round: &RoundSamples| -> Vec<u32> {
            round
                .disturbed
                .iter()
                .map(|disturbance| disturbance.sample)
                .collect()
        };
        assert_eq!(
            (tagged(&rounds[0]), tagged(&rounds[1])),
            (vec![2, 3], vec![1])
        );
    }

    #[test]
    fn a_frequency_that_wanders_has_no_usual_value() {
        let wandering: Vec<f64> = (0..200).map(|n| 1.0 + 0.02 * f64::from(n)).collect();
        assert_eq!(usual_ghz(&[round(&wandering)]), None);
        assert_eq!(usual_ghz(&[]), None);
    }
}
