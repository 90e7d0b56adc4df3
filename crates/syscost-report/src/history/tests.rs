//! Hand-made histories in human-readable form.

use insta::assert_snapshot;
use jiff::{Timestamp, tz::TimeZone};
use syscost_results::history::{Point, Series};
use syscost_results::{Better, Unit};

use super::{ListedRun, changes, list, over_time};
use crate::TableOptions;
use crate::document::{Block, terminal};
use crate::expect::{fits, has};

fn at(width: usize, blocks: &[Block]) -> String {
    terminal(blocks, &TableOptions::of_width(width))
}

/// A series with one run a day from 2026-11-01 on.
fn series(name: &str, values: impl IntoIterator<Item = f64>) -> Series {
    let points = values.into_iter().enumerate().map(|(day, median)| Point {
        run: format!("run-{day}"),
        started: format!("2026-{:02}-{:02}T08:00:00Z", 10 + day / 30, 1 + day % 30),
        tags: Vec::new(),
        median,
        ci95_low: Some(median - 0.01 * median.abs()),
        ci95_high: Some(median + 0.02 * median.abs()),
    });
    Series::new(
        name.to_owned(),
        Unit::Nanoseconds,
        Better::Lower,
        points.collect(),
    )
}

/// Twenty days at 83 ns, then fifteen at 92 ns.
fn stepped() -> Series {
    let level = |day: usize| if day < 20 { 83.1 } else { 92.4 };
    series(
        "syscall.null{call=getppid}",
        (0..35).map(|day| level(day) + [0.0, 0.4, -0.3, 0.2][day % 4]),
    )
}

fn listed(id: &str, machine: &str, started: &str) -> ListedRun {
    ListedRun {
        id: id.to_owned(),
        started: started.parse::<Timestamp>().unwrap(),
        machine: machine.to_owned(),
        kernel: "Linux 6.18.0".to_owned(),
        profile: "standard".to_owned(),
        asked: "run syscall task".to_owned(),
        complete: true,
        rows: 258,
        measured: 254,
        size_bytes: 2_345_678,
        tags: Vec::new(),
    }
}

#[test]
fn the_list_of_one_machine_has_no_machine() {
    let now = "2026-11-21T12:00:00Z".parse().unwrap();
    let mut runs = [
        listed("20261121T115959Z-1", "here", "2026-11-21T11:59:59Z"),
        listed("20261121T080000Z-1", "here", "2026-11-21T08:00:00Z"),
        listed("20261001T080000Z-1", "here", "2026-10-01T08:00:00Z"),
    ];
    runs[1].tags = vec!["baseline".to_owned(), "kernel\u{1b}[2J".to_owned()];
    runs[2].complete = false;
    runs[2].size_bytes = 999;
    assert_snapshot!(at(80, &list(&runs, now, &TimeZone::UTC)));
    runs[2].machine = "there".to_owned();
    let text = at(120, &list(&runs, now, &TimeZone::UTC));
    has(text.lines().nth(3).unwrap(), &["  there    6.18.0"]);
}

#[test]
fn a_step_is_drawn_and_told() {
    assert_snapshot!(at(80, &over_time(&[stepped()], &TimeZone::UTC)));
}

#[test]
fn charts_keep_to_the_width_whatever_they_hold() {
    for count in [0, 1, 2, 30, 79, 80, 500] {
        for width in [60, 80, 133] {
            let series = series("a.b", (0..count).map(|day| 100.0 + (day % 7) as f64));
            for all in [vec![series.clone()], vec![series.clone(), series]] {
                fits(&at(width, &over_time(&all, &TimeZone::UTC)), width);
            }
        }
    }
    let none = over_time(&[series("a.b", [])], &TimeZone::UTC);
    assert_eq!(at(80, &none), "a.b: no run has a number for it\n");
}

#[test]
fn zeros_and_negative_values_are_drawn() {
    for values in [[0.0, 0.0, 0.0], [-5.0, 0.0, 5.0], [-1.0, -1.0, -1.0]] {
        let text = at(80, &over_time(&[series("a.b", values)], &TimeZone::UTC));
        assert_eq!(text.matches('●').count(), 3, "{text}");
    }
}

#[test]
fn several_metrics_are_a_line_each() {
    let faster = series(
        "op.integer{op=add}",
        (0..35).map(|day| if day < 10 { 2.0 } else { 1.0 }),
    );
    let still = series("call.integer{arguments=0}", std::iter::repeat_n(1.65, 35));
    let all = [stepped(), faster, still];
    assert_snapshot!("over_time", at(80, &over_time(&all, &TimeZone::UTC)));
    assert_snapshot!("changes", at(80, &changes(&all, &TimeZone::UTC)));
}
