//! Two sides whose cores ran at different frequencies.
//!
//! A core's frequency depends on its neighbours and may wander by a tenth within a minute, so the
//! time of work done in the core differs between runs although nothing changed. How much of a row
//! is such work is estimated from its own processes, by how much they scatter in time and in
//! cycles.

use super::pool::Pooled;
use crate::estimate::selection::{Choice, MIN_SAMPLES};
use crate::measurement::RoundSamples;
use crate::stats::{order, student};
use crate::{Measurement, Unit};

/// Sides whose frequencies differ by less than this share ran at the same frequency.
const SAME_SIDES: f64 = 0.004;

/// Maximum error of a ratio, as a logarithm, that is accepted for an unknown nature of a row: half
/// of the minimum margin.
const MAX_OFF: f64 = 0.01;

/// Minimum number of processes for an estimate.
const MIN_PROCESSES: usize = 8;

/// How much of a row is work of the core, estimated from its processes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Nature {
    /// The share of its cost that is a fixed number of cycles at any frequency; the rest waits for
    /// memory, devices, other CPUs.
    core: f64,
    /// Uncertainty of that share: two standard errors.
    off: f64,
}

impl Nature {
    /// Maximum error of the ratio, as a logarithm, if it is taken in cycles or in time, for two
    /// sides whose frequencies are `apart` (as a logarithm).
    fn worst(self, in_cycles: bool, apart: f64) -> f64 {
        let other = if in_cycles {
            1.0 - self.core
        } else {
            self.core
        };
        (other + self.off).min(1.0) * apart.abs()
    }
}

/// How two sides are to be compared.
pub(super) enum Ways<'a> {
    /// As measured; with the possible error of the ratio, as a logarithm, if the frequencies
    /// differ.
    InTime(f64),
    /// Both converted to one frequency; with the possible error of the ratio.
    AtOne(Converted<'a>, f64),
    /// Both ways, since it is not known which one is right.
    Either(Converted<'a>),
}

/// Two sides converted to the base's core frequency, and a note on it.
pub(super) struct Converted<'a> {
    pub(super) base: Pooled<'a>,
    pub(super) new: Pooled<'a>,
    /// The base's further runs.
    pub(super) spread: Pooled<'a>,
    pub(super) note: Option<String>,
}

/// How these sides are to be compared; `spread` are the base's further runs.
pub(super) fn ways<'a>(base: &Pooled<'a>, new: &Pooled<'a>, spread: &Pooled<'a>) -> Ways<'a> {
    let known = base.core_ghz.zip(new.core_ghz).zip(base.first);
    let Some(((before, after), first)) = known else {
        return Ways::InTime(0.0);
    };
    if base.is_disturbed || new.is_disturbed {
        // All samples count there, including those of a shared core.
        return Ways::InTime(0.0);
    }
    let apart = (after / before).ln();
    let is_another = apart.abs() > SAME_SIDES;
    let nature = nature(&base.rounds, &new.rounds, first.unit);
    let off = |in_cycles| nature.map(|nature| nature.worst(in_cycles, apart));
    match nature {
        None if !is_another => return Ways::InTime(0.0),
        Some(Nature { core, .. }) if core < 0.5 && off(false) <= Some(MAX_OFF) => {
            return Ways::InTime(off(false).unwrap_or(0.0));
        }
        _ => {}
    }
    let Some(converted) = at_the_bases(base, new, spread) else {
        return Ways::InTime(apart.abs());
    };
    let (what, off) = match nature {
        Some(Nature { core, .. }) if core > 0.5 && off(true) <= Some(MAX_OFF) => (
            ": compared in core cycles, of which its processes take as many at any frequency",
            off(true),
        ),
        None if explains(base, new, &converted) == Some(true) => (
            ": compared in core cycles, in which the two sides agree much better",
            Some(0.0),
        ),
        _ => (
            ", and how much of this is work of the core is not known well enough: the interval holds either way",
            None,
        ),
    };
    let [before, after] = [before, after].map(|ghz| format!("{ghz:.2}"));
    let note = format!("the core ran at {after} GHz instead of {before} GHz{what}");
    let converted = Converted {
        // The processes of each side may have run at several frequencies whose medians agree.
        note: (before != after).then_some(note),
        ..converted
    };
    match off {
        Some(off) => Ways::AtOne(converted, off),
        None => Ways::Either(converted),
    }
}

/// The nature of a row according to the processes of these runs. Each run is taken by itself, so
/// that a change between runs has no influence. `None` with too few processes, or if they ran at
/// one frequency.
///
/// Costs scatter because of noise and because of the frequency: in time by the core's share of the
/// frequency's scatter, in cycles by the rest of it. So the difference of both squares is the
/// square of the frequency's scatter times (2 core - 1).
pub(super) fn nature(
    base: &[Vec<&RoundSamples>],
    new: &[Vec<&RoundSamples>],
    unit: Unit,
) -> Option<Nature> {
    let (mut by_time, mut by_cycles, mut by_ghz) = (Vec::new(), Vec::new(), Vec::new());
    for run in base.iter().chain(new) {
        let of = |round: &&RoundSamples| {
            let time = Choice::Undisturbed.of(round).map(|(_, value)| value);
            let time = logarithm(&time.collect::<Vec<f64>>())?;
            let cycles = logarithm(&at_ghz(round, unit, 1.0)?)?;
            Some((time, cycles))
        };
        let (times, cycles): (Vec<f64>, Vec<f64>) = run.iter().filter_map(of).unzip();
        let ghz: Vec<f64> = times
            .iter()
            .zip(&cycles)
            .map(|(time, cycles)| cycles - time)
            .collect();
        by_time.extend(distances(&times));
        by_cycles.extend(distances(&cycles));
        by_ghz.extend(distances(&ghz));
    }
    let [time, cycles, ghz] = [&by_time, &by_cycles, &by_ghz].map(|all| student::mean(all));
    if by_time.len() < MIN_PROCESSES || ghz < SAME_SIDES / 2.0 {
        return None;
    }
    let core = (0.5 + (time * time - cycles * cycles) / (2.0 * ghz * ghz)).clamp(0.0, 1.0);
    let noise = time.min(cycles) / ghz / (by_time.len() as f64).sqrt();
    Some(Nature {
        core,
        off: 2.0 * noise,
    })
}

/// The logarithm of the median, if that is positive.
fn logarithm(values: &[f64]) -> Option<f64> {
    order::median(values)
        .filter(|median| *median > 0.0)
        .map(f64::ln)
}

/// The distance of each value from the median.
fn distances(values: &[f64]) -> Vec<f64> {
    let middle = order::median(values).unwrap_or(0.0);
    values.iter().map(|value| (value - middle).abs()).collect()
}

/// Both sides converted to the base's frequency; `None` if that of most processes is not known.
/// Further runs of the base whose frequency is not known stay as they are: this can only increase
/// the differences between them.
pub(super) fn at_the_bases<'a>(
    base: &Pooled<'a>,
    new: &Pooled<'a>,
    spread: &Pooled<'a>,
) -> Option<Converted<'a>> {
    let (ghz, unit) = (base.core_ghz?, base.first?.unit);
    let converted = |side: &Pooled<'a>| {
        let found = runs_at(side, unit, ghz);
        (found.estimates.len() == side.estimates.len()).then_some(found)
    };
    Some(Converted {
        base: converted(base)?,
        new: converted(new)?,
        spread: converted(spread).unwrap_or_else(|| spread.clone()),
        note: None,
    })
}

/// The runs of a side for which most processes' frequencies are known, converted to this frequency
/// in GHz.
pub(super) fn runs_at<'a>(side: &Pooled<'a>, unit: Unit, ghz: f64) -> Pooled<'a> {
    let mut found = side.without_runs();
    found.core_ghz = Some(ghz);
    for (rounds, estimate) in side.rounds.iter().zip(&side.estimates) {
        let at_one = |round: &&RoundSamples| at_ghz(round, unit, ghz);
        let processes: Vec<Vec<f64>> = rounds.iter().filter_map(at_one).collect();
        if 2 * processes.len() > rounds.len() {
            found.samples.get_or_insert_default().push(processes);
            found.rounds.push(rounds.clone());
            found.estimates.push(*estimate);
        }
    }
    found
}

/// The undisturbed samples of a process, converted to this frequency as if their whole cost were
/// core cycles; `None` if too few know their frequency, or if the unit is neither a time nor a rate.
pub(super) fn at_ghz(round: &RoundSamples, unit: Unit, ghz: f64) -> Option<Vec<f64>> {
    let known = |index: usize| match round.sample_ghz.is_empty() {
        // Older documents have only the frequency of the whole process.
        true => round.core_ghz,
        false => round
            .sample_ghz
            .get(index)
            .copied()
            .filter(|ghz| *ghz > 0.0),
    };
    let converted = |(index, value): (usize, f64)| {
        let ratio = known(index)? / ghz;
        Some(
            value
                * if unit == Unit::Nanoseconds {
                    ratio
                } else {
                    1.0 / ratio
                },
        )
    };
    let all: Vec<f64> = Choice::Undisturbed
        .of(round)
        .filter_map(converted)
        .collect();
    (unit.is_timed() && all.len() >= MIN_SAMPLES.min(round.values.len())).then_some(all)
}

/// Processes agree so much better in cycles than in time that their cost is work of the core if they
/// scatter in cycles by at most this share of their scatter in time.
const MUCH_LESS: f64 = 0.5;

/// The mean distance of processes from their median, as a share of it.
fn scatter(processes: &[Vec<f64>]) -> Option<f64> {
    let medians = processes
        .iter()
        .filter_map(|process| order::median(process));
    let medians: Vec<f64> = medians.collect();
    let median = order::median(&medians).filter(|median| *median != 0.0)?;
    let distances = medians.iter().map(|one| (one / median - 1.0).abs());
    Some(distances.sum::<f64>() / medians.len() as f64)
}

/// Whether two sides, each of one run, agree much better when converted to the same frequency. With
/// several runs a side, their own spread shows it.
fn explains(base: &Pooled<'_>, new: &Pooled<'_>, converted: &Converted<'_>) -> Option<bool> {
    let of_both = |base: &Pooled<'_>, new: &Pooled<'_>| match (
        &base.samples.as_ref()?[..],
        &new.samples.as_ref()?[..],
    ) {
        ([left], [right]) => scatter(&[&left[..], &right[..]].concat()),
        _ => None,
    };
    let (cycles, time) = (
        of_both(&converted.base, &converted.new)?,
        of_both(base, new)?,
    );
    Some(cycles <= MUCH_LESS * time)
}

/// Whether two rows measured in turn are to be compared in cycles: more than half of the cost is
/// work of the core, which is enough as their frequencies are close.
pub(super) fn is_of_cycles(base: &Measurement, new: &Measurement) -> bool {
    let of = super::pool::undisturbed;
    nature(&[of(base)], &[of(new)], base.unit).is_some_and(|nature| nature.core - nature.off > 0.5)
}

#[cfg(test)]
mod tests;
