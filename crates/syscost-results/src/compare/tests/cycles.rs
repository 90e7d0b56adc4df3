//! Comparisons in core cycles at the reader's request.

use super::*;
use crate::fixture::{row, run};

const IN_CYCLES: How = How {
    in_cycles: true,
    in_turn: false,
};

fn compare_cycles(base: &[&Run], new: &[&Run], spread: &[&Run]) -> Comparison {
    compare_as(IN_CYCLES, base, new, spread)
}

fn compare_pair_cycles(base: &Run, new: &Run) -> Comparison {
    let how = How {
        in_turn: true,
        ..IN_CYCLES
    };
    compare_as(how, &[base], &[new], &[])
}

/// A run whose row took this many cycles at one frequency, with or without checks for sharing of
/// the core.
fn side(ghz: f64, cycles: f64, looked: bool) -> Run {
    let process = |index| vec![cycles / ghz * (1.0 + 0.0001 * f64::from(index)); 5];
    let mut row = row("x.y", (0..6).map(process).collect());
    row.core_cycles = Some(cycles);
    for round in row.samples.iter_mut().flatten() {
        round.core_ghz = Some(ghz);
        round.alone_percent = looked.then_some(100.0);
    }
    run("a", vec![row])
}

#[test]
fn a_frequency_is_no_change_in_cycles() {
    for looked in [true, false] {
        let (base, new) = (side(4.0, 400.0, looked), side(3.0, 400.0, looked));
        let compared = compare_cycles(&[&base], &[&new], &[]);
        let row = only(&compared);
        assert!(compared.in_cycles);
        assert_eq!(row.verdict, Change::Same, "{row:?}");
        assert_eq!(row.compared_in, ComparedIn::CoreCycles);
        let cycles = row.cycles.expect("a time has cycles");
        assert!((cycles.base - 400.0).abs() < 1.0 && (cycles.new - 400.0).abs() < 1.0);
        let paired = compare_pair_cycles(&base, &new);
        assert_eq!(only(&paired).verdict, Change::Same, "{paired:?}");
    }
}

#[test]
fn more_cycles_are_worse_at_any_frequency() {
    let (base, new) = (side(3.0, 400.0, true), side(4.0, 480.0, true));
    let row = only(&compare_cycles(&[&base], &[&new], &[])).clone();
    assert_eq!(row.verdict, Change::Worse);
    assert!((row.ratio - 1.2).abs() < 1e-3, "{row:?}");
}

/// A run whose row is a rate of this many bytes per cycle at one frequency.
fn rate(ghz: f64, per_cycle: f64) -> Run {
    let mut run = side(ghz, 400.0, true);
    let row = &mut run.measurements[0];
    (row.unit, row.better, row.core_cycles) = (Unit::BytesPerSecond, Better::Higher, None);
    for round in row.samples.iter_mut().flatten() {
        for value in &mut round.values {
            *value *= 1e9 * ghz * per_cycle / (400.0 / ghz);
        }
    }
    row.estimate.median = Some(1e9 * ghz * per_cycle);
    run
}

#[test]
fn rates_are_compared_per_cycle() {
    let both = |base: &Run, new: &Run| {
        [
            compare_cycles(&[base], &[new], &[]),
            compare_pair_cycles(base, new),
        ]
        .map(|compared| only(&compared).clone())
    };
    for row in both(&rate(4.0, 8.0), &rate(3.0, 8.0)) {
        assert_eq!(row.verdict, Change::Same, "{row:?}");
        assert_eq!(
            (row.compared_in, row.cycles),
            (ComparedIn::CoreCycles, None)
        );
    }
    for row in both(&rate(3.0, 8.0), &rate(4.0, 6.0)) {
        assert_eq!(row.verdict, Change::Worse, "{row:?}");
        assert!((row.ratio - 0.75).abs() < 1e-3, "{row:?}");
    }
}

#[test]
fn further_runs_without_a_frequency_are_left_out_and_said_so() {
    for looked in [true, false] {
        let (base, new) = (side(4.0, 400.0, looked), side(4.0, 404.0, looked));
        let known = side(2.0, 400.0, looked);
        let mut unknown = known.clone();
        for round in unknown.measurements[0].samples.iter_mut().flatten() {
            round.core_ghz = None;
        }
        let margin = |spread: &[&Run]| {
            let row = only(&compare_cycles(&[&base], &[&new], spread)).clone();
            (row.margin, row.notes)
        };
        // In time they took twice as long; in cycles nothing differs.
        assert_eq!(margin(&[&known]), (MIN_MARGIN, vec![]));
        let note = "1 of 2 --spread runs left out: their core cycles are not known";
        let left_out = (MIN_MARGIN, vec![note.to_owned()]);
        assert_eq!(margin(&[&known, &unknown]), left_out);
    }
}

#[test]
fn tails_are_times_and_have_no_place_among_cycles() {
    let mut base = side(4.0, 400.0, true);
    base.measurements[0].estimate.p99 = Some(150.0);
    let new = base.clone();
    let p99 = |compared: Comparison| only(&compared).p99;
    assert!(p99(compare(&[&base], &[&new], &[])).is_some());
    assert_eq!(p99(compare_cycles(&[&base], &[&new], &[])), None);
    assert_eq!(p99(compare_pair_cycles(&base, &new)), None);
}

#[test]
fn what_has_no_cycles_is_missing_and_no_loss() {
    let mut base = side(4.0, 400.0, true);
    base.measurements[0].unit = Unit::Count;
    for compared in [
        compare_cycles(&[&base], &[&base], &[]),
        compare_pair_cycles(&base, &base),
    ] {
        assert_eq!(compared.rows, []);
        let missing = &compared.missing[0];
        assert!(missing.reason.starts_with("no core cycles") && !missing.lost);
    }
}
