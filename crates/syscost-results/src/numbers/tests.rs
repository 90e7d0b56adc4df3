//! Which row provides a line's number, and which figure is shown beside it.

use super::*;
use crate::Measurement;
use crate::fixture::{of_role, run};

fn measured(role: Role, value: f64) -> Measurement {
    of_role(role, role.name(), value)
}

/// The line whose title, the list's or the stand-in's, begins like this.
fn line<'n>(numbers: &'n Numbers, title: &str) -> &'n Number {
    let mut lines = numbers.numbers.iter();
    lines
        .find(|line| line.title.starts_with(title))
        .unwrap_or_else(|| panic!("{title}: {numbers:?}"))
}

const PLATEAU: Role = Role::L1Latency;
const CHASE: Role = Role::LoadIn16K;

#[test]
fn a_stand_in_has_a_title_of_its_own_and_a_refuted_plateau_has_none() {
    let mut plateau = measured(PLATEAU, 1.0);
    let chase = measured(CHASE, 1.5);
    for (status, title, value) in [
        (Status::Ok, "L1 cache hit", Some(1.0)),
        (Status::Withheld, "L1 cache hit", None),
        (Status::Failed, "L1 cache hit", None),
        (Status::Skipped, "Random load within 16 KiB", Some(1.5)),
        (Status::Unsupported, "Random load within 16 KiB", Some(1.5)),
    ] {
        plateau.status = status;
        let found = numbers(&run("r", vec![plateau.clone(), chase.clone()]));
        assert_eq!(line(&found, title).median_ns, value, "{status:?}");
        // A row whose unit is not a time has no scale either.
        assert_eq!(found.second.as_deref(), value.map(|_| title), "{status:?}");
    }
    let without = numbers(&run("r", vec![chase]));
    assert_eq!(
        line(&without, "Random load within 16 KiB").human_s,
        Some(1.0)
    );
}

#[test]
fn a_line_is_put_beside_the_same_row_only() {
    let bandwidth = |simd: &str| Measurement {
        unit: Unit::BytesPerSecond,
        ..of_role(Role::ReadBandwidth, &format!("read{{simd={simd}}}"), 1e9)
    };
    let here = run("here", vec![measured(PLATEAU, 1.0), bandwidth("avx512")]);
    let beside =
        |rows: Vec<Measurement>| numbers(&here).beside(&here, "there", &run("there", rows));
    let found = beside(vec![measured(PLATEAU, 2.0), bandwidth("avx512")]);
    assert_eq!(found.reference.as_deref(), Some("there"));
    assert_eq!(line(&found, "L1 cache hit").reference_ns, Some(2.0));
    let mebibyte = line(&found, "1 MiB read from memory").reference_ns;
    assert!(mebibyte.is_some_and(|time| (time - 1_048_576.0).abs() < 1e-6));
    // A stand-in or other vectors are different rows.
    let found = beside(vec![measured(CHASE, 2.0), bandwidth("avx2")]);
    let figures = found.numbers.iter().filter_map(|line| line.reference_ns);
    assert_eq!(figures.count(), 0);
}

#[test]
fn lines_are_sorted_by_time_and_those_without_one_are_last() {
    let run = run("r", vec![measured(CHASE, 150.0), measured(PLATEAU, 1.0)]);
    let found = numbers(&run);
    let times: Vec<Option<f64>> = found.by_time().iter().map(|one| one.median_ns).collect();
    let known = times.iter().take_while(|time| time.is_some()).count();
    assert!(known > 0 && times[known..].iter().all(Option::is_none));
    assert!(times[..known].is_sorted());
    assert_eq!(times.len(), found.numbers.len());
}
