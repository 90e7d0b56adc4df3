//! Runs measured in turn: what their rounds show together.
//!
//! What the machine did in the meantime affected both sides of a round alike. Where it did so to a
//! row, it cancels in the round's ratio, and only the differences between the rounds' ratios are
//! uncertainty. Where it did not, a round is like any other, and all processes of one side compared
//! with all of the other say more than pairs of them.

use std::collections::BTreeMap;

use syscost_stats::student::{deviation, mean};
use syscost_stats::{level::Level, normal};

use super::MIN_PAIRED_MARGIN;
use super::pool::{Pooled, Process};
use crate::estimate::selection::MIN_ROUNDS;

/// Chance that independent rounds are taken for such that move together.
const CHANCE: f64 = 0.01;

/// The logarithms of the rounds' ratios, if the rounds of both sides move together by more than
/// chance.
pub(super) fn ratios(base: &Pooled<'_>, new: &Pooled<'_>) -> Option<Vec<f64>> {
    let pairs = pairs(base, new, |process| {
        process.median().filter(|one| *one > 0.0)
    });
    let (left, right): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let by_chance = normal::quantile(1.0 - CHANCE) / (pairs.len() as f64).sqrt();
    (pairs.len() >= MIN_ROUNDS && correlation(&left, &right) > by_chance)
        .then(|| pairs.iter().map(|(left, right)| right - left).collect())
}

/// Whether one side certainly lowers the frequency of its rounds, by more than the margin: that is
/// part of its cost.
pub(super) fn is_of_another_frequency(base: &Pooled<'_>, new: &Pooled<'_>) -> bool {
    let pairs = pairs(base, new, Process::ghz);
    let ratios: Vec<f64> = pairs.iter().map(|(left, right)| right - left).collect();
    let within = MIN_PAIRED_MARGIN.ln_1p();
    let found = Level::of(&ratios).filter(|_| ratios.len() >= MIN_ROUNDS);
    found.is_some_and(|found| found.mean.abs() - found.reach() > within)
}

/// The logarithms of a number of the rounds that both sides have.
fn pairs(
    base: &Pooled<'_>,
    new: &Pooled<'_>,
    number: impl Fn(&Process) -> Option<f64>,
) -> Vec<(f64, f64)> {
    let of = |side: &Pooled<'_>| -> BTreeMap<u32, f64> {
        let processes = side.runs.iter().flatten().flatten();
        processes
            .filter_map(|process| Some((process.round, number(process)?.ln())))
            .collect()
    };
    let new = of(new);
    of(base)
        .iter()
        .filter_map(|(round, left)| Some((*left, *new.get(round)?)))
        .collect()
}

/// The correlation of two equally long series; 0 if one does not vary.
fn correlation(left: &[f64], right: &[f64]) -> f64 {
    let (middle, other) = (mean(left), mean(right));
    let products = left.iter().zip(right);
    let sum: f64 = products
        .map(|(left, right)| (left - middle) * (right - other))
        .sum();
    let scale = deviation(left) * deviation(right) * (left.len() as f64 - 1.0);
    if scale > 0.0 { sum / scale } else { 0.0 }
}

#[cfg(test)]
mod tests;
