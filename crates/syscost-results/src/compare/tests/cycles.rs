//! Comparisons in core cycles, because the reader asks for it.

use super::*;
use crate::fixture::{row, run};

/// A run whose row took this many cycles at one frequency, with or without a look at the core.
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

#[test]
fn what_has_no_cycles_is_missing_and_no_loss() {
    let mut base = side(4.0, 400.0, true);
    base.measurements[0].unit = Unit::Count;
    let compared = compare_cycles(&[&base], &[&base], &[]);
    assert_eq!(compared.rows, []);
    let missing = &compared.missing[0];
    assert!(missing.reason.starts_with("no core cycles") && !missing.lost);
}
