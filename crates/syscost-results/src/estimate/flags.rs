//! The flags of an estimate.
//!
//! A run has hundreds of rows, so a flag requires more than a test at 5 % in one process: drift and
//! dependence must be found in the majority of processes, modes in all of them together. Clean
//! noise is flagged in less than one row of a hundred (see the simulation in the tests), which
//! keeps flags worth reading.

use std::collections::BTreeSet;

use syscost_stats::{interval, modes, order, series};

use super::selection::{ChosenSamples, Selection};
use super::{Estimated, Rules, half_width_ratio, suffix};
use crate::measurement::{Flag, RoundSamples};

/// Share of disturbed samples above which a row is noisy.
const NOISY: f64 = 0.1;

/// Share of independent samples below which a process is dependent.
const INDEPENDENT: f64 = 0.25;

/// Adds the flags, and the details that explain them. `medians` are the estimate's and the one
/// before overhead was subtracted, whatever their sign.
pub(super) fn add(
    out: &mut Estimated,
    all: &[RoundSamples],
    selected: &Selection<'_>,
    rules: &Rules<'_>,
    medians: (f64, Option<f64>),
) {
    let processes = &selected.processes;
    // Modes only of a cost that is distinguishable from zero: shares of zero are meaningless.
    let modes = modes::two_modes(processes).filter(|_| !out.below_resolution);
    let disturbed = match selected.choice {
        ChosenSamples::Own | ChosenSamples::InCompany => 0.0,
        ChosenSamples::All => disturbed_share(all),
    };
    let target = rules.target_half_width;
    let is_wide = half_width_ratio(&out.estimate).is_some_and(|ratio| ratio > target);
    let (net, raw) = medians;
    let is_little = raw.is_some_and(|raw| raw - net > 0.5 * raw.abs());
    let is_exact = interval::ranks(selected.rounds.len(), 0.5).is_some();
    let flags = [
        (Flag::TooFewRounds, !is_exact),
        (Flag::NotConverged, is_wide),
        (Flag::NotSteady, is_drifting(processes, target)),
        (Flag::TwoModes, modes.is_some()),
        (Flag::Autocorrelated, is_dependent(processes)),
        (Flag::Noisy, disturbed > NOISY),
        (Flag::LowTrust, is_little),
        (Flag::Disturbed, selected.is_in_company()),
    ];
    let raised = flags.into_iter().filter(|(_, is_raised)| *is_raised);
    out.flags.extend(raised.map(|(flag, _)| flag));

    // The rule for costs applies to their details: no number if it would be zero or negative.
    let (unit, is_bound) = (suffix(rules.unit), out.below_resolution);
    let legal = |value: &f64| rules.signed || (*value > 0.0 && !is_bound);
    let mut detail = |name: &str, value: Option<f64>| {
        out.details
            .extend(value.map(|value| (name.to_owned(), value)));
    };
    if let Some(modes) = modes {
        let [low, high] = [modes.split.low, modes.split.high].map(|mode| Some(mode).filter(legal));
        let is_fixed = f64::from(u8::from(modes.fixed_per_process));
        detail(&format!("low_mode_{unit}"), low);
        detail(&format!("high_mode_{unit}"), high);
        detail("high_mode_percent", Some(100.0 * modes.split.high_weight));
        detail("mode_fixed_per_process", Some(is_fixed));
    }
    if disturbed > NOISY {
        let [with, without] = [true, false].map(|which| median_of(all, which).filter(legal));
        detail("disturbed_percent", Some(100.0 * disturbed));
        detail(&format!("median_disturbed_{unit}"), with);
        detail(&format!("median_undisturbed_{unit}"), without);
    }
}

/// Whether more than half of the processes drift in the same direction: their first and last thirds
/// differ by a rank test, and by more than half the interval's target, since less can't spoil the
/// number.
///
/// The same direction, because dependent noise wanders up in one process and down in the next, and
/// has its own flag. A single process proves nothing.
fn is_drifting(processes: &[Vec<f64>], target: f64) -> bool {
    let directions: Vec<f64> = processes
        .iter()
        .filter_map(|process| {
            let drift = series::drift(process)?;
            let level = order::median(process)?.abs();
            let drifts = drift.p_value < 0.05 && drift.change.abs() > target / 2.0 * level;
            Some(if drifts { drift.change.signum() } else { 0.0 })
        })
        .collect();
    let counts = [-1.0, 1.0].map(|way| {
        directions
            .iter()
            .filter(|&&direction| direction == way)
            .count()
    });
    directions.len() >= 2 && 2 * counts[0].max(counts[1]) > directions.len()
}

/// Whether at least two processes, in the median, have fewer than a quarter as many independent
/// samples as samples.
fn is_dependent(processes: &[Vec<f64>]) -> bool {
    let shares: Vec<f64> = processes
        .iter()
        .filter(|process| process.len() >= modes::MIN_SAMPLES)
        .filter_map(|process| Some(series::effective_samples(process)? / process.len() as f64))
        .collect();
    shares.len() >= 2 && order::median(&shares).is_some_and(|share| share < INDEPENDENT)
}

/// Share of samples with at least one cause of disturbance, 0..=1.
fn disturbed_share(rounds: &[RoundSamples]) -> f64 {
    let samples: usize = rounds.iter().map(|round| round.values.len()).sum();
    let disturbed: usize = rounds
        .iter()
        .map(|round| disturbed_indices(round).len())
        .sum();
    disturbed as f64 / samples.max(1) as f64
}

/// Median over processes of the median of their disturbed, or undisturbed, samples.
fn median_of(rounds: &[RoundSamples], disturbed: bool) -> Option<f64> {
    let medians: Vec<f64> = rounds
        .iter()
        .filter_map(|round| {
            let indices = disturbed_indices(round);
            let wanted = |(index, _): &(usize, &f64)| indices.contains(index) == disturbed;
            let values: Vec<f64> = round
                .values
                .iter()
                .enumerate()
                .filter(wanted)
                .map(|(_, &value)| value)
                .collect();
            order::median(&values)
        })
        .collect();
    order::median(&medians)
}

/// Indices of a round's disturbed samples; a sample disturbed twice counts once.
fn disturbed_indices(round: &RoundSamples) -> BTreeSet<usize> {
    round
        .disturbed
        .iter()
        .map(|disturbance| disturbance.sample as usize)
        .filter(|&index| index < round.values.len())
        .collect()
}
