//! Rows of real names keep what tells them apart, in every text and at every width.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use syscost_results::compare::{Change, Comparison};
use syscost_results::history::{Point, Series};
use syscost_results::{Directory, Flag, Run, Status, row_name};

use crate::document::terminal;
use crate::history::{changes, over_time};
use crate::{TableOptions, compare, fixture, paint, table};

/// Names of the catalogue's rows, of all benchmarks with long ones.
const NAMES: &str = include_str!("../fixture/names.txt");

/// Those of groups whose rows have the most parameters.
fn longest() -> impl Iterator<Item = &'static str> {
    let groups = ["ipc.", "net.", "fs."];
    NAMES
        .lines()
        .filter(move |name| groups.iter().any(|group| name.starts_with(group)))
}

/// A run of rows that differ in nothing but their names.
fn run() -> Run {
    let mut run = fixture::run();
    let figures = [8990.0, 9080.0, 9130.0, 8900.0];
    let rows = NAMES.lines().map(|name| {
        let mut row = fixture::measured(name, figures, Some(36_114.0), Vec::new());
        row.flags = vec![Flag::TooFewRounds, Flag::Noisy];
        row.estimate.p99 = Some(11_100.0);
        row
    });
    run.measurements = rows.collect();
    run
}

fn of_directories() -> Run {
    let mut run = run();
    let label = |label: &str| Directory {
        label: label.to_owned(),
        ..Directory::default()
    };
    run.directories = ["default", "other"].map(label).to_vec();
    let has_directory = run
        .measurements
        .iter()
        .filter(|row| row.name.contains("{dir=default"));
    let mut others: Vec<_> = has_directory.cloned().collect();
    for row in &mut others {
        row.name = row.name.replace("dir=default", "dir=other");
    }
    run.measurements.extend(others);
    run.measurements.retain(|row| row.name.contains("{dir="));
    run
}

fn comparison() -> Comparison {
    let mut comparison = compare::tests::comparison();
    let pattern = comparison.rows[0].clone();
    let rows = longest().map(|name| {
        let mut row = pattern.clone();
        row.name = name.to_owned();
        row.verdict = Change::Worse;
        row
    });
    comparison.rows = rows.collect();
    comparison.refused.clear();
    comparison.missing.clear();
    comparison
}

fn history() -> Vec<Series> {
    let series = longest().map(|name| {
        let points = (0..30u32).map(|day| Point {
            run: format!("run-{day}"),
            started: format!("2026-10-{:02}T08:00:00Z", 1 + day),
            tags: Vec::new(),
            median: if day < 15 { 83.1 } else { 92.4 },
            ci95_low: None,
            ci95_high: None,
        });
        let row = fixture::measured(name, [1.0; 4], None, Vec::new());
        Series::new(name.to_owned(), row.unit, row.better, points.collect())
    });
    series.collect()
}

/// A row's lines in one, below the line of its benchmark: a name ends where a figure follows, and
/// goes on after a comma.
fn rows(text: &str) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    let mut benchmark = String::new();
    let mut goes_on = false;
    for line in text.lines() {
        let words = line.trim_start();
        let is_figure =
            words.starts_with(|first: char| first.is_ascii_digit() || "▁▅█".contains(first));
        if words.contains("What it measures") {
            benchmark = words.to_owned();
        } else if goes_on || is_figure {
            if let Some(row) = rows.last_mut() {
                row.push_str(words);
            }
        } else if words.contains('=') {
            rows.push(format!("{benchmark} {words}"));
        }
        goes_on = words.ends_with(',') && words.contains('=') && !words.contains(' ');
    }
    rows
}

/// The operation of a name, and the parameters that tell it from others of its benchmark.
fn telling<'n>(name: &'n str, names: &'n [String]) -> impl Iterator<Item = &'n str> {
    let case = row_name::case(name).unwrap_or_default().split(',');
    let tells = move |part: &&str| {
        let mut like = names
            .iter()
            .filter(|one| row_name::id(one) == row_name::id(name));
        !part.starts_with("dir=") && like.any(|one| !one.contains(part))
    };
    std::iter::once(row_name::operation(name)).chain(case.filter(tells))
}

#[test]
fn no_two_rows_print_alike_and_no_word_is_cut_at_any_width() {
    let parameters: BTreeSet<&str> = NAMES
        .split(['{', '}', ',', '\n'])
        .filter(|part| part.contains('='))
        .collect();
    let (plain, directories, comparison, series) =
        (run(), of_directories(), comparison(), history());
    let (all, longest) = (NAMES.lines().count(), longest().count());
    let lines = directories.measurements.len() / 2;
    let (every_kind, beside, judged) = (
        fixture::run(),
        fixture::of_directories(),
        compare::tests::comparison(),
    );
    // The names that a verbose text, whose rows are not alone on their lines, must hold.
    let names = |run: &Run| -> Vec<String> {
        let rows = run.measurements.iter();
        let shown = rows.filter(|row| row.status != Status::Skipped);
        shown.map(|row| row.name.clone()).collect()
    };
    let known = BTreeMap::from([
        ("verbose table", names(&every_kind)),
        ("verbose directories", names(&beside)),
        (
            "verbose comparison",
            judged.rows.iter().map(|row| row.name.clone()).collect(),
        ),
    ]);
    type Draw<'a> = &'a dyn Fn(usize) -> String;
    let options = TableOptions::of_width;
    let verbose = |width| TableOptions::of_width(width).verbose(true);
    let zone = TimeZone::UTC;
    let (over_time, changes) = (over_time(&series, &zone), changes(&series, &zone));
    let compared = compare::table;
    // With the number of rows of these names.
    let texts: [(&str, usize, Draw<'_>); 8] = [
        ("table", all, &|width| table(&plain, &options(width))),
        ("directories", lines, &|width| {
            table(&directories, &options(width))
        }),
        ("comparison", longest, &|width| {
            compared(&comparison, &options(width))
        }),
        ("over time", longest, &|width| {
            terminal(&over_time, &options(width))
        }),
        ("changes", longest, &|width| {
            terminal(&changes, &options(width))
        }),
        ("verbose table", 0, &|width| {
            table(&every_kind, &verbose(width))
        }),
        ("verbose directories", 0, &|width| {
            table(&beside, &verbose(width))
        }),
        ("verbose comparison", 0, &|width| {
            compared(&judged, &verbose(width))
        }),
    ];
    for width in 60..=200 {
        for (what, count, draw) in &texts {
            let text = draw(width);
            for line in text.lines() {
                assert!(paint::width(line) <= width, "{what} {width}: {line}");
                assert_eq!(line, line.trim_end());
            }
            if *count == 0 {
                let names = &known[what];
                for words in names.iter().flat_map(|name| telling(name, names)) {
                    assert!(text.contains(words), "{what} {width}: {words} in {text}");
                }
                continue;
            }
            let rows = rows(&text);
            let different: BTreeSet<&String> = rows.iter().collect();
            assert_eq!(rows.len(), different.len(), "{what} {width}: {text}");
            assert!(
                rows.len() >= *count,
                "{what} {width}: {} of {count}: {text}",
                rows.len()
            );
            let words = text.split([' ', '{', '}', ',', '\n']);
            for word in words.filter(|word| word.contains('=')) {
                let is_whole = parameters.contains(word) || word.starts_with("dir=");
                assert!(is_whole, "{what} {width}: {word}");
            }
        }
    }
}
