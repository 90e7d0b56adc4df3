use super::super::{Change, MIN_PAIRED_MARGIN, compare, compare_pair};
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
    assert_eq!(row.margin, MIN_PAIRED_MARGIN);
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
