//! Rows that the new side lost.

use super::*;
use crate::fixture::{of_role, row, run};

/// A run of two rows that was asked for these selectors.
fn asked(selectors: &[&str]) -> Run {
    let rows = ["x.y", "x.z"].map(|name| row(name, vec![vec![1.0; 5]; 6]));
    let mut run = run("a", rows.to_vec());
    run.config.selectors = selectors.iter().map(|text| (*text).to_owned()).collect();
    run
}

#[test]
fn a_number_is_lost_for_any_reason_but_noise() {
    let base = asked(&[]);
    let mut new = base.clone();
    for (status, reason, lost, to_noise) in [
        (Status::Failed, "open: permission denied", true, false),
        (Status::Failed, CORE_SHARED, false, true),
        (
            Status::Failed,
            "its core worked for somebody else",
            false,
            true,
        ),
        (Status::Withheld, "counted 0", true, false),
        (Status::Unsupported, "no such call", true, false),
        (Status::Skipped, INTERRUPTED, true, false),
        (Status::Skipped, "the time budget was spent", false, true),
        (Status::BelowResolution, "less than 0.1 ns", false, false),
    ] {
        new.measurements[0].status = status;
        new.measurements[0].reason = Some(reason.to_owned());
        let compared = compare(&[&base], &[&new], &[]);
        let missing = &compared.missing[0];
        assert_eq!(
            (missing.lost, missing.to_noise),
            (lost, to_noise),
            "{status:?} {reason}"
        );
        assert_eq!(
            compared.lost().count(),
            usize::from(lost),
            "{status:?} {reason}"
        );
        // What the base lacks is not lost.
        assert_eq!(compare(&[&new], &[&base], &[]).lost().count(), 0);
    }
}

#[test]
fn a_row_that_is_not_there_is_lost_if_the_same_was_asked_for() {
    let base = asked(&["x"]);
    let lost = |selectors: &[&str]| {
        let mut new = asked(selectors);
        new.measurements.pop();
        let compared = compare(&[&base], &[&new], &[]);
        compared
            .lost()
            .map(|(name, _)| name.to_owned())
            .collect::<Vec<String>>()
    };
    assert_eq!(lost(&["x"]), ["x.z"]);
    assert_eq!(lost(&["x.y"]), [""; 0], "less was asked for");
    let mut quick = asked(&["x"]);
    quick.config.profile = "careful".to_owned();
    quick.measurements.pop();
    assert_eq!(compare(&[&base], &[&quick], &[]).lost().count(), 0);
}

#[test]
fn another_thing_under_the_same_name_is_no_longer_the_row() {
    let base = asked(&[]);
    let lost = |change: fn(&mut Measurement)| {
        let mut new = base.clone();
        change(&mut new.measurements[0]);
        let compared = compare(&[&base], &[&new], &[]);
        assert_eq!(compared.refused.len(), 1);
        compared.lost().count()
    };
    assert_eq!(lost(|row| row.revision = 2), 1);
    assert_eq!(lost(|row| row.unit = Unit::Count), 1);
    assert_eq!(lost(|row| row.better = Better::Higher), 1);
    assert_eq!(
        lost(|row| row.estimate.median = Some(-1.0)),
        0,
        "a level around zero"
    );
}

#[test]
fn what_others_take_is_never_compared() {
    let side = |factor: f64| {
        let rows = Role::OF_THE_HOUR.map(|role| of_role(role, role.name(), factor));
        run(
            "a",
            [rows.to_vec(), vec![row("x.y", vec![vec![1.0; 5]; 6])]].concat(),
        )
    };
    let mut new = side(3.0);
    new.measurements[3] = side(1.0).measurements.remove(3);
    let compared = compare(&[&side(1.0)], &[&new], &[]);
    assert_eq!(only(&compared).name, "x.y");
    assert_eq!((compared.missing.len(), compared.refused.len()), (0, 0));
    new.measurements.retain(|row| row.id == "x.y");
    assert_eq!(compare(&[&side(1.0)], &[&new], &[]).lost().count(), 0);
}
