//! What is called the same, and what a change.

use super::*;

#[test]
fn a_wide_margin_calls_no_large_change_the_same() {
    let mut rng = fastrand::Rng::with_seed(9);
    let mut at = |id, level| run(id, vec![row("x.y", noisy(level, 6, 0.01, 0.01, &mut rng))]);
    let (base, new, far) = (at("a", 100.0), at("b", 130.0), at("c", 160.0));
    let compared = compare(&[&base], &[&new], &[&far]);
    let row = only(&compared);
    assert!(row.margin > 0.3, "{row:?}");
    assert_eq!(row.verdict, Change::Inconclusive, "{row:?}");
}

#[test]
fn small_changes_are_the_same_and_unsure_ones_inconclusive() {
    assert_eq!(one(1.005, 0.001, 1).verdict, Change::Same);
    assert_eq!(one(1.005, 0.001, 1).margin, MIN_MARGIN);
    let unsure = one(1.1, 0.1, 2);
    assert_eq!(unsure.verdict, Change::Inconclusive);
    assert!(unsure.margin > 0.05, "{unsure:?}");
    assert_eq!(unsure.worse_by_at_least(), None);
}

#[test]
fn what_did_not_change_is_mostly_called_the_same_though_processes_differ() {
    // Processes that differ by 1.5 % have medians of six that differ by up to 2 %.
    let rows: Vec<Row> = (0..200).map(|seed| one(1.0, 0.015, seed)).collect();
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    assert!(count(Change::Same) >= 130, "{}", count(Change::Same));
    assert!(
        rows.iter()
            .all(|row| row.same_within >= row.margin.min(MAX_SAME))
    );
    // A larger difference is never called the same.
    let slower = (0..200).map(|seed| one(1.12, 0.015, seed));
    assert_eq!(slower.filter(|row| row.verdict == Change::Same).count(), 0);
}

#[test]
fn a_change_beyond_the_margin_is_one_even_within_what_is_the_same() {
    let mut row = one(1.0, 0.001, 1);
    (row.margin, row.same_within) = (0.05, 0.08);
    (row.ci95_low, row.ci95_high) = (Some(1.056), Some(1.07));
    assert_eq!(verdict(&row, true), Change::Worse);
    assert_eq!(verdict(&row, false), Change::Same);
}

#[test]
fn a_step_of_the_clock_is_no_change() {
    // Every process shows the same step: 15 of 10 ns, then 16.
    let side = |id, ns: f64, grain| {
        let mut row = row("x.y", vec![vec![ns; 5]; 6]);
        row.estimate.clock_grain = grain;
        run(id, vec![row])
    };
    let compared = |grain| {
        let (base, new) = (side("a", 150.0, grain), side("b", 160.0, grain));
        [compare(&[&base], &[&new], &[]), compare_pair(&base, &new)].map(|both| only(&both).clone())
    };
    for row in compared(Some(10.0)) {
        assert_eq!(row.verdict, Change::Inconclusive, "{row:?}");
        assert!(row.ci95_low < Some(1.0) && row.margin > 0.09, "{row:?}");
    }
    for row in compared(None) {
        assert_eq!(row.verdict, Change::Worse, "{row:?}");
    }
}
