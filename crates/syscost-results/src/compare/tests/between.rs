//! What the documents know of differences between runs.

use super::*;
use crate::fixture::{noisy, normal, row, run};
use crate::measurement::BetweenRuns;

/// A run of rows that differ by 5 % from run to run and by 0.5 % within one, whose document knows
/// this from so many runs.
fn moody(runs: u32, rng: &mut fastrand::Rng) -> Run {
    let rows = (0..200).map(|index| {
        let level = 100.0 * (0.05 * normal(rng)).exp();
        let mut row = row(
            &format!("x.r{index:03}"),
            noisy(level, 9, 0.005, 0.005, rng),
        );
        row.between_runs = (runs > 1).then_some(BetweenRuns {
            deviation: 0.05,
            runs,
        });
        row
    });
    run("a", rows.collect())
}

#[test]
fn rows_that_differ_between_kept_runs_are_no_change_between_two() {
    let mut rng = fastrand::Rng::with_seed(5);
    let mut changed = |runs| {
        let compared = compare(&[&moody(runs, &mut rng)], &[&moody(runs, &mut rng)], &[]);
        count(&compared, Change::Worse) + count(&compared, Change::Better)
    };
    let found = [1, 20].map(&mut changed);
    assert!(found[0] > 100, "single runs cannot show it: {found:?}");
    assert_eq!(found[1], 0, "{found:?}");
}

#[test]
fn what_is_known_of_one_side_holds_for_both_and_a_large_change_is_found() {
    let mut rng = fastrand::Rng::with_seed(6);
    let mut side = |level: f64, kept: Option<BetweenRuns>| {
        let mut row = row("x.y", noisy(level, 9, 0.002, 0.002, &mut rng));
        row.between_runs = kept;
        run("a", vec![row])
    };
    let kept = Some(BetweenRuns {
        deviation: 0.02,
        runs: 30,
    });
    for (base, new) in [(kept, None), (None, kept)] {
        let slower = compare(&[&side(100.0, base)], &[&side(104.0, new)], &[]);
        assert_eq!(only(&slower).verdict, Change::Inconclusive, "{slower:?}");
        assert_eq!(slower.of_single_runs(), 0, "the kept runs are behind it");
        let slower = compare(&[&side(100.0, base)], &[&side(130.0, new)], &[]);
        assert_eq!(only(&slower).verdict, Change::Worse, "{slower:?}");
    }
    let single = compare(&[&side(100.0, None)], &[&side(104.0, None)], &[]);
    assert_eq!(single.of_single_runs(), 1, "nothing is");
    // Rounds measured in turn are minutes of one run.
    let in_turn = compare_pair(&side(100.0, kept), &side(104.0, kept));
    assert_eq!(only(&in_turn).verdict, Change::Worse, "{in_turn:?}");
}
