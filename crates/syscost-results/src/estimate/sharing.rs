//! Which samples of a row are of a core of our own: the effect decides.
//!
//! What a probe shows of a core says whether something else ran there, not whether that mattered: a
//! chain of divisions does not care for a neighbour, and a neighbour that mostly waits for memory may
//! slow a row at ratios that pass as own. So the limit for a row is moved from the general one to where
//! its values begin to change. It is a limit of the ratio alone: no sample is taken or left out for its
//! own value.

use std::collections::BTreeMap;

use syscost_stats::order::median;
use syscost_stats::student;

use super::core_share::LineSums;
use super::selection::{ChosenSamples, Conversion};
use crate::measurement::{CoreShare, LimitBasis, RoundSamples, Sharing, Unit};
use crate::run::Noise;

/// What probes show on a core of our own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnCore {
    /// The ratio that they mostly show.
    pub ratio: f64,
    /// The largest ratio that still says so.
    pub limit: f64,
    /// What says that.
    pub basis: LimitBasis,
}

/// What probes show on each CPU of a run, by its number.
pub type OwnCores = BTreeMap<u32, OwnCore>;

impl OwnCore {
    /// What a document says of its CPUs; nothing of those whose core was not probed.
    pub fn of_noise(noise: &[Noise]) -> OwnCores {
        let of = |cpu: &Noise| {
            let own = Self {
                ratio: cpu.alone_ratio?,
                limit: cpu.alone_limit?,
                basis: cpu.limit_basis.unwrap_or_default(),
            };
            Some((cpu.cpu, own))
        };
        noise.iter().filter_map(of).collect()
    }

    /// The limit as a multiple of the ratio.
    fn relative(&self) -> f64 {
        self.limit / self.ratio
    }
}

/// Shifts of a row's values below this share of them are none.
const MARGIN: f64 = 0.001;

/// The chance at each look that ratios with a larger shift are taken in, or ratios without one left out;
/// over all looks of a profile at most five times that, as there are no more.
const ERROR: f64 = 0.01;

/// Up to this many times an own core's ratio probes show one state: those of one agree within 1.5 % (docs/METHODOLOGY.md,
/// "What an own core shows").
const ONE_STATE: f64 = 1.015;

/// Minimum number of processes by which a shift is judged: of two, Student's quantile exceeds a hundred.
const MIN_PROCESSES: usize = 3;

/// The ratios on each side of the general limit are judged in this many bins of equally many samples,
/// or fewer, of at least as many as most processes have.
const BINS: usize = 4;
const MIN_BIN: usize = 9;

/// Sets up to which ratio the samples of these rounds are of a core of our own, and says what that is
/// by. `None` if no probes' ratios are known: then tags decide.
pub fn judge(rounds: &mut [RoundSamples], unit: Unit, cores: &OwnCores) -> Option<Sharing> {
    let probed = |round: &&mut RoundSamples| !round.ratios.is_empty();
    let mut general: Option<Sharing> = None;
    for round in rounds.iter_mut().filter(probed) {
        let Some(core) = cores.get(&round.cpu) else {
            continue;
        };
        round.own_limit = Some(core.limit);
        let (limit, basis) = (core.relative(), core.basis);
        general = Some(general.map_or(Sharing { limit, basis }, |known| Sharing {
            limit: known.limit.min(limit),
            basis: if basis == LimitBasis::Assumed {
                basis
            } else {
                known.basis
            },
        }));
    }
    let general = general?;
    // Without what earlier runs showed, so that a document alone gives the same.
    let share = unit.is_timed().then(|| {
        let line = LineSums::of_rounds(rounds, unit);
        CoreShare::of(line, &[]).share
    });
    let conversion = Conversion::new(unit, share);
    let processes: Vec<Vec<Sample>> = rounds
        .iter()
        .filter_map(|round| Some(samples(round, cores.get(&round.cpu)?, unit, conversion)))
        .collect();
    // Where the values show no other limit, each CPU has its own.
    let Some(limit) = by_effect(&processes, general.limit) else {
        return Some(general);
    };
    for round in rounds.iter_mut().filter(probed) {
        let core = cores.get(&round.cpu);
        round.own_limit = core.map(|core| core.ratio * limit);
    }
    let basis = LimitBasis::Effect;
    Some(Sharing { limit, basis })
}

/// A sample: its ratio as a multiple of an own core's, and the logarithm of its value.
#[derive(Debug, Clone, Copy)]
struct Sample {
    ratio: f64,
    value: f64,
}

/// The samples of a round that nothing disturbed but perhaps a neighbour, converted.
fn samples(
    round: &RoundSamples,
    core: &OwnCore,
    unit: Unit,
    conversion: Conversion,
) -> Vec<Sample> {
    let choices = [ChosenSamples::Own, ChosenSamples::InCompany].into_iter();
    let all = choices.flat_map(|choice| round.converted(choice, conversion));
    all.filter_map(|(index, value)| {
        let ratio = *round.ratios.get(index).filter(|ratio| **ratio < u16::MAX)?;
        Some(Sample {
            ratio: f64::from(ratio) / 1e3 / core.ratio,
            value: unit.logarithm(value)?,
        })
    })
    .collect()
}

/// Up to which ratio a row's values do not change, if another one than the general limit.
///
/// Bins of the ratio are judged one after the other, from the lowest up, and the first that is another
/// state ends it, so that no error adds up over them.
fn by_effect(processes: &[Vec<Sample>], general: f64) -> Option<f64> {
    let mut ratios: Vec<f64> = processes.iter().flatten().map(|one| one.ratio).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let (below, above) = ratios.split_at(ratios.partition_point(|ratio| *ratio <= general));
    // Below it, bins above the mode of an own core are left out if they are shown to be slower.
    let (mode, beside) = below.split_at(below.partition_point(|ratio| *ratio <= ONE_STATE));
    let mut ends: Vec<f64> = mode.last().copied().into_iter().collect();
    if !beside.is_empty() {
        ends.extend(bin_ends(beside));
    }
    for pair in ends.windows(2) {
        let shift = Shift::between(processes, pair[0], pair[1]);
        if shift.is_some_and(|shift| shift.is_slower()) {
            let next = below[below.partition_point(|ratio| *ratio <= pair[0])];
            return Some((pair[0] + next) / 2.0);
        }
    }
    // Above it, bins are taken in if they are shown to be the same.
    let mut reached = *ends.last()?;
    let start = reached;
    for end in bin_ends(above) {
        let shift = Shift::between(processes, reached, end);
        if !shift.is_some_and(|shift| shift.is_none()) {
            break;
        }
        reached = end;
    }
    // Half a step of the stored ratios farther, or half way to the next.
    let next = above.iter().find(|ratio| **ratio > reached);
    let next = next.map_or(reached * 1.001, |next| (reached + next) / 2.0);
    (reached > start).then_some(next)
}

/// The largest ratio of each of the bins that these, in order, are cut into; equal ones stay together.
fn bin_ends(ratios: &[f64]) -> Vec<f64> {
    let bins = (ratios.len() / MIN_BIN).clamp(1, BINS);
    let ends = (1..=bins).filter_map(|bin| ratios.get((ratios.len() * bin / bins).checked_sub(1)?));
    let mut ends: Vec<f64> = ends.copied().collect();
    ends.dedup();
    ends
}

/// How far the values of a bin of ratios are from those of all lower ones, in logarithms.
#[derive(Debug, Clone, Copy)]
struct Shift {
    mean: f64,
    /// How far that may be off, either way.
    error: f64,
}

impl Shift {
    /// The shift of the samples above the first ratio and up to the second; `None` with too few
    /// processes. Processes differ, so each is compared with itself, unless neighbours stay so long
    /// that most have samples of one kind only.
    fn between(processes: &[Vec<Sample>], lower: f64, upper: f64) -> Option<Self> {
        let side = |process: &[Sample], above: f64, up_to: f64| -> Option<Weighted> {
            let wanted = process
                .iter()
                .filter(|one| above < one.ratio && one.ratio <= up_to);
            let values: Vec<f64> = wanted.map(|one| one.value).collect();
            Some((median(&values)?, values.len() as f64))
        };
        let (mut low, mut high, mut within) = (Vec::new(), Vec::new(), Vec::new());
        for process in processes {
            let below = side(process, f64::NEG_INFINITY, lower);
            let above = side(process, lower, upper);
            low.extend(below.map(|(value, _)| (value, 1.0)));
            high.extend(above.map(|(value, _)| (value, 1.0)));
            within.extend(below.zip(above).map(|((below, few), (above, others))| {
                // As precise as a difference between so many samples and so many others is.
                (above - below, few * others / (few + others))
            }));
        }
        let smaller = low.len().min(high.len());
        if 2 * within.len() >= smaller {
            let (mean, variance) = weighted(&within);
            let count = within.len();
            return (count >= MIN_PROCESSES).then(|| Self::new(mean, variance, count));
        }
        let ((low, low_variance), (high, high_variance)) = (weighted(&low), weighted(&high));
        // The smaller side's degrees of freedom, as Welch's (1947) are no fewer.
        let variance = low_variance + high_variance;
        (smaller >= MIN_PROCESSES).then(|| Self::new(high - low, variance, smaller))
    }

    fn new(mean: f64, variance: f64, count: usize) -> Self {
        // One-sided, as both of Schuirmann's (1987) tests of equivalence are.
        let times = student::quantile_two_sided(2.0 * ERROR, count as u32 - 1);
        Self {
            mean,
            error: times * variance.sqrt(),
        }
    }

    /// Whether it is shown to be too small to matter.
    fn is_none(self) -> bool {
        self.mean.abs() + self.error < MARGIN
    }

    /// Whether it is shown to be there, and is large enough to matter.
    fn is_slower(self) -> bool {
        self.mean > self.error.max(MARGIN)
    }
}

/// A value and its weight.
type Weighted = (f64, f64);

/// The mean of values with weights, and the variance of that mean as their scatter shows it.
fn weighted(values: &[Weighted]) -> (f64, f64) {
    let weights: f64 = values.iter().map(|(_, weight)| weight).sum();
    let mean = values
        .iter()
        .map(|(value, weight)| value * weight)
        .sum::<f64>()
        / weights;
    let squares = values
        .iter()
        .map(|(value, weight)| weight * (value - mean).powi(2));
    (
        mean,
        squares.sum::<f64>() / weights / (values.len() as f64 - 1.0),
    )
}

#[cfg(test)]
pub(super) mod tests;
