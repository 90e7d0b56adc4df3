//! The ratio of one row of two runs measured in turn: round by round.
//!
//! What the machine did in the meantime affected both sides of a round alike and cancels in the
//! round's ratio; only the differences between the rounds' ratios are uncertainty.

use super::frequency;
use super::notes::{notes, of_frequency};
use super::pool::{Pooled, p99};
use super::ratio::{MIN_EXACT, MIN_PROCESSES, distance_of_pairs, either, grain};
use super::{Change, ComparedIn, MIN_PAIRED_MARGIN, Row, same_within};
use crate::Measurement;
use crate::estimate::selection::Conversion;
use crate::stats::{interval, order, signed_rank, student};

/// The row, with its verdict still to be decided. `None` without medians.
///
/// Work of the core is compared in cycles, unless one side itself lowers the frequency, which is
/// then part of its cost; if the frequency wanders too much to decide, both ways.
pub(super) fn row(base: &Pooled<'_>, new: &Pooled<'_>) -> Option<Row> {
    let (left, right) = (base.first?, new.first?);
    if !frequency::is_of_cycles(left, right) {
        return row_in(false, base, new);
    }
    match are_of_one_frequency(left, right) {
        Some(is_one) => row_in(is_one, base, new),
        None => {
            let mut row = either(row_in(false, base, new)?, &row_in(true, base, new)?);
            let note = "the core's frequency wandered too much to tell whether one side lowers it: the interval holds in time and in core cycles";
            row.notes.push(note.to_owned());
            Some(row)
        }
    }
}

/// The row in core cycles or in time.
pub(super) fn row_in(is_of_cycles: bool, base: &Pooled<'_>, new: &Pooled<'_>) -> Option<Row> {
    let (left, right) = (base.first?, new.first?);
    let (logs, are_undisturbed) = log_ratios(left, right, is_of_cycles);
    let mut notes = notes(base, new);
    match is_of_cycles {
        true => notes.push("compared in core cycles".to_owned()),
        false => {
            let change = signed_rank::centre(&logs).unwrap_or(0.0);
            notes.extend(of_frequency(base, new, change));
        }
    }
    if !are_undisturbed && !base.is_disturbed && !new.is_disturbed {
        notes.push(
            "too few rounds are undisturbed on both sides at once: all are used, and a neighbour may be part of the difference"
                .to_owned(),
        );
    }
    let is_enough = logs.len() >= MIN_PROCESSES;
    if !is_enough {
        notes.push(format!(
            "too few rounds: {} were measured on both sides, at least {MIN_PROCESSES} are needed",
            logs.len()
        ));
    }
    let exact = signed_rank::interval(&logs).filter(|_| logs.len() >= MIN_EXACT);
    let exact = exact.map(|found| (found.low, found.high));
    let found =
        exact.or_else(|| student::interval(&logs, interval::CONFIDENCE).filter(|_| is_enough));
    let grain = grain(base).hypot(grain(new));
    let found = found.map(|(low, high)| (low - grain, high + grain));
    let (base_median, new_median) = (base.median()?, new.median()?);
    let ratio = signed_rank::centre(&logs).map_or(new_median / base_median, f64::exp);
    // The centre of this many ratios varies as their mean does, if two of them differ this much.
    let ratios: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
    let spread = distance_of_pairs(&[ratios]) / (2.0 * logs.len().max(1) as f64).sqrt();
    let spread = spread.max(grain);
    Some(Row {
        name: left.name.clone(),
        id: left.id.clone(),
        unit: left.unit,
        better: left.better,
        compared_in: match is_of_cycles {
            true => ComparedIn::CoreCycles,
            false => ComparedIn::Time,
        },
        base: base_median,
        new: new_median,
        ratio,
        ci95_low: found.map(|(low, _)| low.exp()),
        ci95_high: found.map(|(_, high)| high.exp()),
        margin: MIN_PAIRED_MARGIN.max(spread.exp_m1()),
        same_within: same_within(
            MIN_PAIRED_MARGIN,
            spread,
            logs.len().saturating_sub(1) as u32,
        ),
        p_value: found.map(|_| p_value(&logs)),
        verdict: Change::Inconclusive,
        notes,
        disturbed: base.is_disturbed || new.is_disturbed,
        cycles: None,
        p99: p99(base, new),
    })
}

/// Whether both sides ran at one frequency, round by round; `None` if the rounds do not show it.
fn are_of_one_frequency(base: &Measurement, new: &Measurement) -> Option<bool> {
    let rounds = |row: &Measurement| -> Vec<(u32, f64)> {
        let rounds = row.samples.iter().flatten();
        rounds
            .filter_map(|round| Some((round.round, round.core_ghz?)))
            .collect()
    };
    let new = rounds(new);
    let ratio = |(round, before): (u32, f64)| {
        let (_, after) = new.iter().find(|(other, _)| *other == round)?;
        Some((after / before).ln())
    };
    let logs: Vec<f64> = rounds(base).into_iter().filter_map(ratio).collect();
    let found = signed_rank::interval(&logs)?;
    let within = MIN_PAIRED_MARGIN.ln_1p();
    if -within <= found.low && found.high <= within {
        return Some(true);
    }
    (found.low > 0.0 || found.high < 0.0).then_some(false)
}

/// Whether any round has known core cycles on both sides.
pub(super) fn has_cycles(base: &Measurement, new: &Measurement) -> bool {
    let (logs, _) = log_ratios(base, new, true);
    !logs.is_empty()
}

/// The logarithms of the ratios, in cycles or as measured, of the rounds that both sides have: only
/// of those undisturbed on both sides, if there are enough. The flag says whether all of them are
/// undisturbed.
fn log_ratios(base: &Measurement, new: &Measurement, is_of_cycles: bool) -> (Vec<f64>, bool) {
    let rounds = |row: &Measurement| -> Vec<(u32, f64, bool)> {
        let rounds = row.samples.iter().flatten();
        rounds
            .filter_map(|round| {
                let values = match is_of_cycles {
                    true => frequency::at_ghz(round, row.unit, 1.0)?,
                    false => round.best(Conversion::of(row)),
                };
                let median = order::median(&values)?;
                Some((round.round, median, round.is_undisturbed()))
            })
            .collect()
    };
    let new = rounds(new);
    let mut ratios: Vec<(f64, bool)> = rounds(base)
        .into_iter()
        .filter_map(|(round, before, is_own)| {
            let (_, after, too) = new.iter().find(|(other, ..)| *other == round)?;
            (before > 0.0 && *after > 0.0).then(|| ((after / before).ln(), is_own && *too))
        })
        .collect();
    if ratios.iter().filter(|(_, is_own)| *is_own).count() >= MIN_PROCESSES {
        ratios.retain(|(_, is_own)| *is_own);
    }
    let are_undisturbed = ratios.iter().all(|(_, is_own)| *is_own);
    (
        ratios.into_iter().map(|(log, _)| log).collect(),
        are_undisturbed,
    )
}

/// The p-value of Student's t test on the mean of the ratios' logarithms.
fn p_value(logs: &[f64]) -> f64 {
    let count = logs.len() as f64;
    let mean = student::mean(logs);
    if mean == 0.0 {
        return 1.0;
    }
    let t = mean / (student::deviation(logs) / count.sqrt());
    student::two_sided(t, (logs.len() - 1) as u32)
}

#[cfg(test)]
mod tests {
    use super::super::{Change, compare, compare_pair};
    use crate::Run;
    use crate::fixture::run_of;
    use crate::measurement::{Cause, Disturbance};

    /// Six rounds that drift by 40 % from first to last; the new side is `factor` times as
    /// expensive.
    fn drifting(factor: f64) -> Vec<Vec<f64>> {
        (0..6)
            .map(|round| {
                let level = 100.0 * (1.0 + 0.08 * f64::from(round)) * factor;
                (0..5)
                    .map(|n| level * (1.0 + 0.001 * f64::from(n)))
                    .collect()
            })
            .collect()
    }

    #[test]
    fn a_drift_of_both_sides_cancels() {
        let (base, new) = (run_of(&drifting(1.0)), run_of(&drifting(1.05)));
        let paired = compare_pair(&base, &new);
        let row = &paired.rows[0];
        assert_eq!(row.verdict, Change::Worse, "{row:?}");
        assert!((row.ratio - 1.05).abs() < 1e-9, "{row:?}");
        assert_eq!(row.margin, super::MIN_PAIRED_MARGIN);
        assert!(row.ci95_low > Some(1.049) && row.ci95_high < Some(1.051));
        let apart = compare(&[&base], &[&new], &[]);
        assert_eq!(apart.rows[0].verdict, Change::Inconclusive);
    }

    #[test]
    fn the_margin_grows_with_what_rounds_differ_by() {
        // Ratios of 0.9, 1.0, 1.1 in turn: the median of six of them is uncertain by some percent.
        let base: Vec<Vec<f64>> = vec![vec![100.0; 5]; 6];
        let new: Vec<Vec<f64>> = (0..6)
            .map(|round| vec![90.0 + 10.0 * f64::from(round % 3); 5])
            .collect();
        let row = &compare_pair(&run_of(&base), &run_of(&new)).rows[0];
        assert!((0.05..0.07).contains(&row.margin), "{row:?}");
        assert_eq!(row.verdict, Change::Inconclusive);
    }

    #[test]
    fn what_the_first_of_a_round_gains_cancels() {
        // The side that runs first is 3 % more expensive: A in even rounds, B in odd ones, and A in
        // one round more.
        let side = |is_b: bool| -> Vec<Vec<f64>> {
            (0..9)
                .map(|round| {
                    let first = (round % 2 == 1) == is_b;
                    vec![
                        100.0 * (1.0 + 0.03 * f64::from(u8::from(first))) + 0.01 * f64::from(round);
                        5
                    ]
                })
                .collect()
        };
        let row = &compare_pair(&run_of(&side(false)), &run_of(&side(true))).rows[0];
        assert!((row.ratio - 1.0).abs() < 0.005, "{row:?}");
        assert_ne!(row.verdict, Change::Worse);
        assert_ne!(row.verdict, Change::Better);
    }

    /// Rounds of ten samples at this level; in those selected by `shared`, a neighbour makes all of
    /// them half as long again.
    fn beside_a_neighbour(level: f64, rounds: u32, shared: impl Fn(u32) -> bool) -> crate::Run {
        let factor = |round| if shared(round) { 1.5 } else { 1.0 };
        let values = (0..rounds).map(|round| vec![level * factor(round); 10]);
        let mut run = run_of(&values.collect::<Vec<_>>());
        let row = &mut run.measurements[0];
        row.estimate.undisturbed_percent = Some(50.0);
        for round in row.samples.iter_mut().flatten() {
            round.alone_percent = Some(50.0);
            if shared(round.round) {
                round.disturbed = (0..10)
                    .map(|sample| Disturbance {
                        sample,
                        cause: Cause::SharedCore,
                    })
                    .collect();
            }
        }
        run
    }

    #[test]
    fn rounds_that_are_undisturbed_on_both_sides_decide() {
        let base = beside_a_neighbour(100.0, 12, |round| round % 4 == 0);
        let new = beside_a_neighbour(105.0, 12, |round| round % 4 == 1);
        let row = &compare_pair(&base, &new).rows[0];
        assert!((row.ratio - 1.05).abs() < 1e-9, "{row:?}");
        assert_eq!((row.verdict, row.notes.len()), (Change::Worse, 0));
    }

    #[test]
    fn it_is_said_where_no_rounds_are_undisturbed_on_both_sides() {
        let base = beside_a_neighbour(100.0, 12, |round| round % 2 == 0);
        let new = beside_a_neighbour(100.0, 12, |round| round % 2 == 1);
        let row = &compare_pair(&base, &new).rows[0];
        assert_eq!(row.notes.len(), 1, "{row:?}");
        assert!(row.notes[0].starts_with("too few rounds are undisturbed on both sides"));
        assert_eq!(row.verdict, Change::Inconclusive);
    }

    #[test]
    fn rounds_of_one_side_only_are_left_out() {
        let base = run_of(&drifting(1.0));
        let mut new = run_of(&drifting(1.0));
        new.measurements[0]
            .samples
            .as_mut()
            .expect("samples")
            .remove(2);
        let of = |new: &Run| compare_pair(&base, new).rows[0].clone();
        let five = of(&new);
        assert!(
            five.ci95_low <= Some(1.0) && five.ci95_high >= Some(1.0),
            "{five:?}"
        );
        new.measurements[0]
            .samples
            .as_mut()
            .expect("samples")
            .truncate(2);
        let two = of(&new);
        assert_eq!((two.ci95_low, two.verdict), (None, Change::Inconclusive));
        assert_eq!(
            two.notes,
            ["too few rounds: 2 were measured on both sides, at least 3 are needed"]
        );
    }
}
