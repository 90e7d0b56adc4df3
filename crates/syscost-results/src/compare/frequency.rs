//! Two sides whose cores ran at different frequencies.
//!
//! A core's frequency depends on its neighbours, and may wander by a tenth within a minute: what is work of the core then differs between runs though
//! nothing changed. How much of a row is work of the core its own processes tell, by how they scatter in time and in cycles.

use super::pool::Pooled;
use crate::estimate::selection::{Choice, scatter};
use crate::measurement::RoundSamples;
use crate::stats::{order, student};
use crate::{Measurement, Unit};

/// Frequencies nearer than this share are the same.
const SAME: f64 = 0.004;

/// At one frequency, the processes of two sides that ran at one each must scatter by no more than this share of what they scatter by as they were.
const MUCH_LESS: f64 = 0.5;

/// So far off may a ratio be for what is not known of a row's nature, as a logarithm: half of the least margin.
const MAX_OFF: f64 = 0.01;

/// Fewest processes that tell.
const MIN_TELLING: usize = 8;

/// How much of a row is work of the core, as its processes tell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Nature {
    /// The share of its cost that takes cycles, whatever their frequency; the rest waits for memory, devices, other CPUs.
    core: f64,
    /// How far that share may be off, as two standard errors.
    off: f64,
}

impl Nature {
    /// By how much the ratio of two sides whose frequencies are so far apart, as a logarithm, may be off if it is taken in cycles, or in time.
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
    let is_another = apart.abs() > SAME;
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
    let note = format!("the core ran at {after:.2} GHz instead of {before:.2} GHz{what}");
    let converted = Converted {
        note: Some(note),
        ..converted
    };
    match off {
        Some(off) => Ways::AtOne(converted, off),
        None => Ways::Either(converted),
    }
}

/// What the processes of these runs tell, each run by itself, so that a change between two is no part of it; `None` of too few, or where they ran
/// at one frequency.
///
/// Costs scatter by noise and by the frequency: in time by the core's share of it, in cycles by the rest. So the difference of the squares of both
/// is the square of the frequency's own scatter times twice the core's share less one.
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
    if by_time.len() < MIN_TELLING || ghz < SAME / 2.0 {
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

/// Both sides as if at the base's frequency; `None` where that of most processes is not known.
fn at_the_bases<'a>(
    base: &Pooled<'a>,
    new: &Pooled<'a>,
    spread: &Pooled<'a>,
) -> Option<Converted<'a>> {
    let (ghz, unit) = (base.core_ghz?, base.first?.unit);
    let converted = |side: &Pooled<'a>| {
        let run = |rounds: &Vec<&RoundSamples>| {
            let at_one = |round: &&RoundSamples| round.at_ghz(Choice::AnyFrequency, unit, ghz);
            let processes: Vec<Vec<f64>> = rounds.iter().filter_map(at_one).collect();
            (2 * processes.len() > rounds.len()).then_some(processes)
        };
        Some(Pooled {
            samples: Some(side.rounds.iter().map(run).collect::<Option<Vec<_>>>()?),
            core_ghz: Some(ghz),
            ..side.clone()
        })
    };
    Some(Converted {
        base: converted(base)?,
        new: converted(new)?,
        spread: converted(spread).unwrap_or_else(|| spread.clone()),
        note: None,
    })
}

/// Whether two sides that ran at one frequency each agree much better as if at the same. Of more runs their own spread tells.
fn explains(base: &Pooled<'_>, new: &Pooled<'_>, converted: &Converted<'_>) -> Option<bool> {
    let of_both = |base: &Pooled<'_>, new: &Pooled<'_>| match (
        &base.samples.as_ref()?[..],
        &new.samples.as_ref()?[..],
    ) {
        ([left], [right]) => scatter(&[&left[..], &right[..]].concat()),
        _ => None,
    };
    Some(of_both(&converted.base, &converted.new)? <= MUCH_LESS * of_both(base, new)?)
}

/// Whether two rows measured in turn are to be compared in cycles: they ran at frequencies so near that half of the core's share is enough.
pub(super) fn is_of_cycles(base: &Measurement, new: &Measurement) -> bool {
    let of = super::pool::undisturbed;
    nature(&[of(base)], &[of(new)], base.unit).is_some_and(|nature| nature.core - nature.off > 0.5)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::run_of;
    use super::super::{Change, ComparedIn, compare, compare_pair};
    use super::*;
    use crate::Run;

    /// Eight processes at this frequency that take this many cycles.
    fn run(ghz: f64, cycles: f64) -> Run {
        wandering(ghz, 0.0, |ghz| cycles / ghz)
    }

    /// Eight processes that cost so much at their own frequencies, around this one and a share of it apart.
    fn wandering(middle: f64, apart: f64, cost: impl Fn(f64) -> f64) -> Run {
        let ghz = |process: u32| middle * (1.0 + apart * (f64::from(process * 3 % 8) - 3.5));
        let processes: Vec<Vec<f64>> = (0..8)
            .map(|process| vec![cost(ghz(process)) * (1.0 + 0.001 * f64::from(process)); 5])
            .collect();
        let mut run = run_of(&processes);
        for round in run.measurements[0].samples.iter_mut().flatten() {
            let ghz = ghz(round.round);
            round.core_ghz = Some(ghz);
            round.sample_ghz = vec![ghz; 5];
            round.usual_ghz = Some(middle);
            round.alone_percent = Some(100.0);
        }
        run
    }

    /// The verdict on the only row, its ratio, and what is said of it.
    fn judged(base: &Run, new: &Run) -> (Change, f64, String) {
        let row = compare(&[base], &[new], &[]).rows.remove(0);
        (row.verdict, row.ratio, row.notes.concat())
    }

    #[test]
    fn work_of_the_core_is_compared_in_cycles_where_its_frequency_wanders() {
        let side = |middle, cycles| wandering(middle, 0.01, move |ghz| cycles / ghz);
        let (verdict, ratio, notes) = judged(&side(3.3, 400.0), &side(3.6, 400.0));
        assert_eq!((verdict, ratio), (Change::Same, 1.0), "{notes}");
        assert!(notes.contains("as many at any frequency"), "{notes}");
        let row = &compare(&[&side(3.3, 400.0)], &[&side(3.6, 400.0)], &[]).rows[0];
        assert_eq!(row.compared_in, ComparedIn::CoreCycles);
        // Both medians are those at the base's frequency.
        assert!((row.new / row.base - 1.0).abs() < 0.002, "{row:?}");
        let (verdict, ratio, notes) = judged(&side(3.3, 400.0), &side(3.6, 416.0));
        assert!((ratio - 1.04).abs() < 1e-3, "{ratio}");
        assert_eq!(verdict, Change::Worse, "{notes}");
    }

    #[test]
    fn what_waits_for_memory_is_compared_in_time_at_any_frequency() {
        let side = |middle, ns| wandering(middle, 0.01, move |_| ns);
        let (verdict, ratio, notes) = judged(&side(3.3, 90.0), &side(3.6, 90.0));
        assert_eq!((verdict, ratio), (Change::Same, 1.0), "{notes}");
        assert_eq!(judged(&side(3.3, 90.0), &side(3.6, 94.0)).0, Change::Worse);
        let row = &compare(&[&side(3.3, 90.0)], &[&side(3.6, 90.0)], &[]).rows[0];
        assert_eq!(row.compared_in, ComparedIn::Time);
    }

    #[test]
    fn what_is_only_partly_work_of_the_core_is_not_called_changed() {
        for core in [0.35, 0.65] {
            let side = |middle| {
                wandering(middle, 0.01, move |ghz| {
                    100.0 * (1.0 - core + core * 3.7 / ghz)
                })
            };
            let (verdict, _, notes) = judged(&side(3.7), &side(3.2));
            assert_eq!(verdict, Change::Inconclusive, "{core}: {notes}");
            assert_eq!(notes.matches("the core ran at").count(), 1, "{notes}");
        }
    }

    #[test]
    fn several_runs_of_a_side_are_compared_at_one_frequency_too() {
        let side = |cycles: f64| {
            [3.2, 3.45, 3.7].map(|middle| wandering(middle, 0.01, move |ghz| cycles / ghz))
        };
        let (base, new) = (side(400.0), side(420.0));
        let row = compare(&base.each_ref(), &new.each_ref(), &[])
            .rows
            .remove(0);
        assert_eq!(row.verdict, Change::Worse, "{row:?}");
    }

    #[test]
    fn where_processes_do_not_tell_a_change_must_hold_either_way() {
        // One frequency a side, and half of the cost is work of the core.
        let half = |ghz: f64, ns: f64| wandering(ghz, 0.0, move |ghz| ns * (0.5 + 0.5 * 3.3 / ghz));
        let (verdict, _, notes) = judged(&half(3.3, 90.0), &half(3.6, 90.0));
        assert_eq!(verdict, Change::Inconclusive, "{notes}");
        assert!(notes.contains("holds either way"), "{notes}");
        let row = &compare(&[&half(3.3, 90.0)], &[&half(3.6, 90.0)], &[]).rows[0];
        assert_eq!(row.compared_in, ComparedIn::Either);
        assert_eq!(judged(&half(3.3, 90.0), &half(3.6, 110.0)).0, Change::Worse);
    }

    #[test]
    fn another_frequency_is_no_change() {
        let (base, new) = (run(4.2, 400.0), run(3.9, 400.0));
        let row = &compare(&[&base], &[&new], &[]).rows[0];
        assert_eq!(row.verdict, Change::Same, "{row:?}");
        assert!(
            row.notes
                .iter()
                .any(|note| note.contains("3.90 GHz instead of 4.20"))
        );
    }

    #[test]
    fn a_change_is_seen_at_another_frequency_as_well() {
        let (base, new) = (run(4.2, 400.0), run(3.9, 440.0));
        let row = &compare(&[&base], &[&new], &[]).rows[0];
        assert_eq!(row.verdict, Change::Worse, "{row:?}");
        let (base, new) = (run(4.2, 400.0), run(4.2, 420.0));
        assert_eq!(
            compare(&[&base], &[&new], &[]).rows[0].verdict,
            Change::Worse
        );
    }

    #[test]
    fn what_is_worse_in_time_is_not_the_same_because_cycles_scatter() {
        // A fifth is work of the core; the clock is 4 % slower, and the rest takes 2.5 % longer.
        let side = |middle: f64, ns: f64| {
            wandering(middle, 0.016, move |ghz| ns * (0.8 + 0.2 * middle / ghz))
        };
        let (verdict, ratio, notes) = judged(&side(3.6, 100.0), &side(3.456, 102.5));
        assert_ne!(verdict, Change::Same, "{ratio} {notes}");
    }

    #[test]
    fn what_is_not_known_of_a_rows_nature_is_in_its_interval() {
        let known = |nature: Nature| nature.worst(true, 0.04);
        let (core, off) = (0.8, 0.02);
        assert!((known(Nature { core, off }) - 0.04 * 0.22).abs() < 1e-12);
        // Never more than the frequencies are apart.
        assert_eq!(known(Nature { core, off: 8.0 }), 0.04);
        let side =
            |middle: f64| wandering(middle, 0.01, move |ghz| 100.0 * (0.1 + 0.9 * 3.6 / ghz));
        let row = compare(&[&side(3.6)], &[&side(3.5)], &[]).rows.remove(0);
        assert!(
            row.ci95_low < Some(1.0) && row.ci95_high > Some(1.0),
            "{row:?}"
        );
    }

    #[test]
    fn a_rate_is_converted_the_other_way() {
        let round = RoundSamples {
            values: vec![100.0; 3],
            sample_ghz: vec![2.0; 3],
            ..RoundSamples::default()
        };
        let at_four = |unit| round.at_ghz(Choice::AnyFrequency, unit, 4.0);
        assert_eq!(at_four(Unit::Nanoseconds), Some(vec![50.0; 3]));
        assert_eq!(at_four(Unit::BytesPerSecond), Some(vec![200.0; 3]));
        assert_eq!(at_four(Unit::Percent), None);
    }

    #[test]
    fn of_two_measured_in_turn_one_that_lowers_the_frequency_is_dearer() {
        let in_turn = |new: &Run| {
            compare_pair(&wandering(3.6, 0.01, |ghz| 400.0 / ghz), new)
                .rows
                .remove(0)
        };
        let row = in_turn(&wandering(3.6, 0.01, |ghz| 420.0 / ghz));
        assert_eq!(
            (row.compared_in, row.verdict),
            (ComparedIn::CoreCycles, Change::Worse)
        );
        assert!((row.ratio - 1.05).abs() < 1e-3, "{row:?}");
        let row = in_turn(&wandering(3.3, 0.01, |ghz| 400.0 / ghz));
        assert_eq!(
            (row.compared_in, row.verdict),
            (ComparedIn::Time, Change::Worse)
        );
        // Each round's frequencies are apart by up to 7 %, now one way, now the other.
        let row = in_turn(&wandering(3.6, -0.01, |ghz| 400.0 / ghz));
        assert_eq!(
            (row.compared_in, row.verdict),
            (ComparedIn::Either, Change::Inconclusive)
        );
    }
}
