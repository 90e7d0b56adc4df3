//! The frequency that the core mostly ran at, and the samples that were taken at another.
//!
//! A core's frequency depends on what its neighbours do, in steps of 100 MHz and several in a
//! second, so a cost in ns means one frequency. What is work of the core is converted to it; of
//! other rows, samples of another frequency are left out as long as there are enough
//! ([`selection`](super::selection)).

use crate::measurement::{Cause, Disturbance, RoundSamples};

use super::selection::Choice;

/// Frequencies within this share of each other are the same.
const SAME: f64 = 0.012;

/// The share of the undisturbed samples that must be of one frequency for it to be the usual one.
const MIN_SHARE: f64 = 0.25;

/// Width of a bin of the histogram, as a share.
const BIN: f64 = 0.002;

/// The frequency that the costs of a run are of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usual {
    /// In GHz.
    pub ghz: f64,
    /// Whether enough samples were taken at it for those of others to be left out.
    pub is_common: bool,
}

/// The frequency that most undisturbed samples of these rounds were taken at, or their median where
/// they agree on none; `None` where it is not known of any.
pub fn usual<'a>(rounds: impl IntoIterator<Item = &'a RoundSamples>) -> Option<Usual> {
    let mut known: Vec<f64> = Vec::new();
    for round in rounds {
        let ghz = |(index, _)| round.sample_ghz.get(index).copied();
        known.extend(Choice::AnyFrequency.of(round).filter_map(ghz));
    }
    known.retain(|ghz| ghz.is_finite() && *ghz > 0.0);
    let middle = crate::stats::order::median(&known)?;
    let common = mode(known);
    Some(Usual {
        ghz: common.unwrap_or(middle),
        is_common: common.is_some(),
    })
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

/// Notes the usual frequency, and tags the samples that were taken at another.
pub fn tag(rounds: &mut [RoundSamples], usual: Usual) {
    for round in rounds {
        round.usual_ghz = Some(usual.ghz);
        if !usual.is_common {
            continue;
        }
        let others = round.sample_ghz.iter().enumerate();
        let others = others.filter(|(_, ghz)| !are_same(**ghz, usual.ghz));
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
        let usual = usual(&rounds).expect("it is known");
        assert!(
            usual.is_common && (usual.ghz - 3.9).abs() < 0.002,
            "{usual:?}"
        );
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
        let mut rounds = [round(&wandering)];
        let middle = usual(&rounds).expect("it is known");
        assert!(!middle.is_common, "{middle:?}");
        tag(&mut rounds, middle);
        assert!(rounds[0].disturbed.is_empty() && rounds[0].usual_ghz == Some(middle.ghz));
        assert_eq!(usual(&[]), None);
    }
}
