//! How large a change a comparison says it could have found, and whether it does.

use super::*;
use crate::fixture::{noisy, row, run};

/// A comparison of a hundred rows whose processes differ by 1 %, the first of them slower by a
/// factor.
fn slower(factor: f64, rng: &mut fastrand::Rng) -> Comparison {
    let mut side = |factor: f64| {
        let level = |index| if index == 0 { 100.0 * factor } else { 100.0 };
        let rows = (0..100).map(|index| {
            row(
                &format!("x.r{index:03}"),
                noisy(level(index), 12, 0.01, 0.01, rng),
            )
        });
        run("a", rows.collect())
    };
    compare(&[&side(1.0)], &[&side(factor)], &[])
}

#[test]
fn a_change_that_could_be_found_is_found_in_four_of_five_cases() {
    let mut rng = fastrand::Rng::with_seed(4);
    let typical = slower(1.0, &mut rng)
        .power
        .and_then(|power| power.half)
        .expect("intervals");
    assert!((0.02..0.08).contains(&typical), "{typical}");
    let mut found = |factor: f64| {
        let is_worse = |row: &Row| row.name == "x.r000" && row.verdict == Change::Worse;
        let trials = (0..100).map(|_| slower(factor, &mut rng));
        trials
            .filter(|compared| compared.rows.iter().any(is_worse))
            .count()
    };
    let (at, half) = (found(1.0 + typical), found(1.0 + typical / 2.0));
    println!("{typical}: {at} and {half} of 100");
    assert!((68..=95).contains(&at), "{at} of 100 found at {typical}");
    assert!(half < 30, "{half} of 100 found at half of {typical}");
}

#[test]
fn rows_that_can_show_nothing_count_as_well() {
    let rows = |known: usize| -> Vec<Row> {
        let row = |index| Row {
            detectable: (index < known).then_some(0.01 * (1.0 + index as f64)),
            ..one(1.0, 0.01, 1)
        };
        (0..10).map(row).collect()
    };
    let power = |known| Power::of(&rows(known)).expect("rows");
    assert!(
        power(10)
            .half
            .is_some_and(|half| (0.05..0.07).contains(&half))
    );
    assert!(power(10).nine_of_ten.is_some_and(|most| most > 0.085));
    assert_eq!(power(7).nine_of_ten, None);
    assert_eq!((power(4).half, Power::of(&[])), (None, None));
}
