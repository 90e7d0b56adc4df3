//! The frequency that the core usually ran at, and the samples taken at other frequencies.
//!
//! A core's frequency depends on what its neighbours do and changes in steps of 100 MHz, several
//! times a second, so a cost in ns applies to one frequency. Work of the core is converted to that
//! frequency; of other rows, samples at other frequencies are left out as long as enough remain
//! ([`selection`](super::selection)).

use crate::measurement::{Cause, Disturbance, RoundSamples};

use super::selection::Choice;

/// Frequencies within this share of each other are the same.
const SAME: f64 = 0.012;

/// Minimum share of the undisturbed samples at one frequency for it to be the usual one.
const MIN_SHARE: f64 = 0.25;

/// Width of a histogram bin, as a share.
const BIN: f64 = 0.002;

/// The frequency to which the costs of a run refer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usual {
    /// In GHz.
    pub ghz: f64,
    /// Whether enough samples were taken at it that those at others can be left out.
    pub is_common: bool,
}

/// The frequency at which most undisturbed samples of these rounds were taken, or their median if
/// they agree on none; `None` if none is known.
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
    crate::stats::order::median(&known)
}

/// Whether two frequencies count as the same.
pub fn are_same(one: f64, other: f64) -> bool {
    (one / other).ln().abs() <= SAME
}

/// Sets the usual frequency, and tags the samples that were taken at another.
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
