//! Two sides whose cores ran at different frequencies.
//!
//! A core's frequency depends on its neighbours, and may wander by a tenth within a minute: what is
//! work of the core then differs between runs though nothing changed. How much of a row is work of
//! the core its own processes tell, by how they scatter in time and in cycles.

use super::pool::Pooled;
use crate::estimate::selection::{Choice, is_much_less, scatter};
use crate::measurement::RoundSamples;
use crate::stats::{order, student};
use crate::{Measurement, Unit};

/// Sides whose frequencies are nearer than this share ran at the same.
const SAME_SIDES: f64 = 0.004;

/// So far off may a ratio be for what is not known of a row's nature, as a logarithm: half of the
/// least margin.
const MAX_OFF: f64 = 0.01;

/// Fewest processes that tell.
const MIN_TELLING: usize = 8;

/// How much of a row is work of the core, as its processes tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Nature {
    /// The share of its cost that takes cycles, whatever their frequency; the rest waits for
    /// memory, devices, other CPUs.
    core: f64,
    /// How far that share may be off, as two standard errors.
    off: f64,
}

impl Nature {
    /// By how much the ratio of two sides whose frequencies are so far apart, as a logarithm, may
    /// be off if it is taken in cycles, or in time.
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
    /// As they are. By what share this may be off, as a logarithm, where the frequencies differ.
    InTime(f64),
    /// Both as if at one frequency; by what share this may be off.
    AtOne(Converted<'a>, f64),
    /// In both ways: which one holds is not known.
    Either(Converted<'a>),
}

/// Two sides as if their cores had run at the base's frequency, and what to say of it.
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
        // All samples count there, and of a shared core.
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
        // Processes of either side ran at several frequencies, which agree in the middle.
        note: (before != after).then_some(note),
        ..converted
    };
    match off {
        Some(off) => Ways::AtOne(converted, off),
        None => Ways::Either(converted),
    }
}

/// What the processes of these runs tell, each run by itself, so that a change between two is no
/// part of it; `None` of too few, or where they ran at one frequency.
///
/// Costs scatter by noise and by the frequency: in time by the core's share of it, in cycles by the
/// rest. So the difference of the squares of both is the square of the frequency's own scatter
/// times twice the core's share less one.
pub(super) fn nature(
    base: &[Vec<&RoundSamples>],
    new: &[Vec<&RoundSamples>],
    unit: Unit,
) -> Option<Nature> {
    let (mut by_time, mut by_cycles, mut by_ghz) = (Vec::new(), Vec::new(), Vec::new());
    for run in base.iter().chain(new) {
        let of = |round: &&RoundSamples| {
            let time = Choice::AnyFrequency.of(round).map(|(_, value)| value);
            let time = logarithm(&time.collect::<Vec<f64>>())?;
            let cycles = logarithm(&round.at_ghz(Choice::AnyFrequency, unit, 1.0)?)?;
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
    if by_time.len() < MIN_TELLING || ghz < SAME_SIDES / 2.0 {
        return None;
    }
    let core = (0.5 + (time * time - cycles * cycles) / (2.0 * ghz * ghz)).clamp(0.0, 1.0);
    let noise = time.min(cycles) / ghz / (by_time.len() as f64).sqrt();
    Some(Nature {
        core,
        off: 2.0 * noise,
    })
}

/// The logarithm of the median, if it has one.
fn logarithm(values: &[f64]) -> Option<f64> {
    order::median(values)
        .filter(|median| *median > 0.0)
        .map(f64::ln)
}

/// How far each is from the median of all.
fn distances(values: &[f64]) -> Vec<f64> {
    let middle = order::median(values).unwrap_or(0.0);
    values.iter().map(|value| (value - middle).abs()).collect()
}

/// Both sides as if at the base's frequency; `None` where that of most processes is not known. Further runs of the base
/// whose frequency is not known stay as they are: what it did can only make them differ by more.
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

/// Those runs of a side of which most processes' frequencies are known, as if they had been measured at this one, in GHz.
pub(super) fn runs_at<'a>(side: &Pooled<'a>, unit: Unit, ghz: f64) -> Pooled<'a> {
    let mut found = side.without_runs();
    found.core_ghz = Some(ghz);
    for (rounds, estimate) in side.rounds.iter().zip(&side.estimates) {
        let at_one = |round: &&RoundSamples| round.at_ghz(Choice::AnyFrequency, unit, ghz);
        let processes: Vec<Vec<f64>> = rounds.iter().filter_map(at_one).collect();
        if 2 * processes.len() > rounds.len() {
            found.samples.get_or_insert_default().push(processes);
            found.rounds.push(rounds.clone());
            found.estimates.push(*estimate);
        }
    }
    found
}

/// Whether two sides that ran at one frequency each agree much better as if at the same. Of more
/// runs their own spread tells.
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
    Some(is_much_less(cycles, time))
}

/// Whether two rows measured in turn are to be compared in cycles: they ran at frequencies so near
/// that half of the core's share is enough.
pub(super) fn is_of_cycles(base: &Measurement, new: &Measurement) -> bool {
    let of = super::pool::undisturbed;
    nature(&[of(base)], &[of(new)], base.unit).is_some_and(|nature| nature.core - nature.off > 0.5)
}

#[cfg(test)]
mod tests;
