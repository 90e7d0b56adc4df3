//! Charts of small data in characters.

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::chart::{Bar, Border, Line, Panel, Value};

fn drawn(chart: &Chart, width: usize) -> String {
    let labels = Labels {
        title: "Latency · memory.latency".to_owned(),
        description: String::new(),
        source: "Imaginary CPU, 2026-11-21, syscost 0.1.0".to_owned(),
        runs: Vec::new(),
    };
    let options = TextOptions::plain(width);
    text(chart, Unit::Nanoseconds, &labels, options)
}

/// Steps of latency at 32 KiB, 1 MiB and 32 MiB.
fn steps(label: &str, factor: f64) -> Line {
    let latency = |power: i32| match power {
        ..=15 => 1.5,
        16..=20 => 5.0,
        21..=25 => 25.0,
        _ => 110.0,
    };
    let points = (10..=28).map(|power| {
        let bytes = f64::from(power).exp2();
        (bytes, Value::exactly(factor * latency(power)))
    });
    Line::new(label.to_owned(), 0, points.collect())
}

#[test]
fn a_curve_of_steps() {
    let chart = Chart::Curve {
        parameter: "size".to_owned(),
        lines: vec![steps("pages=4K", 1.0), steps("pages=2M", 0.7)],
        borders: [(48.0, "L1"), (1024.0, "L2"), (1e9, "beyond")]
            .map(|(kib, name)| Border {
                at: 1024.0 * kib,
                name: name.to_owned(),
            })
            .to_vec(),
    };
    assert_snapshot!(drawn(&chart, 80));
}

#[test]
fn bars_and_dots() {
    let chart = |medians: &[f64]| {
        Chart::Bars(
            medians
                .iter()
                .map(|median| Bar::new(format!("row {median}"), 0, Value::exactly(*median)))
                .collect(),
        )
    };
    assert_snapshot!(drawn(&chart(&[10.0, 20.0, 13.3]), 60));
    assert_snapshot!(drawn(&chart(&[10.0, 20_000.0]), 60));
}

#[test]
fn lines_are_distinguishable_without_colours() {
    let lines = (0..12).map(|index| steps(&format!("pages={index}"), f64::from(index).exp2()));
    let chart = Chart::Curve {
        parameter: "size".to_owned(),
        lines: lines.collect(),
        borders: Vec::new(),
    };
    let text = drawn(&chart, 100);
    let (field, legend) = text
        .split_once("size, logarithmic axis")
        .expect("the axis' name");
    let mark = |line: &str| line.split('━').nth(1).map(str::to_owned);
    let marks: Vec<String> = legend.lines().filter_map(mark).collect();
    let mut different = marks.clone();
    different.sort();
    different.dedup();
    assert_eq!((marks.len(), different.len()), (12, 12), "{text}");
    for mark in marks {
        assert!(field.contains(&mark), "{mark} in {text}");
    }
}

fn matrix(cpus: usize) -> Chart {
    let names: Vec<String> = (0..cpus).map(|cpu| cpu.to_string()).collect();
    let cell = |from: usize, to: usize| match from.abs_diff(to) {
        0 => None,
        distance => Some(40.0 * distance as f64),
    };
    Chart::Heatmap {
        parameters: ("to".to_owned(), "from".to_owned()),
        columns: names.clone(),
        rows: names,
        panels: vec![Panel {
            label: String::new(),
            run: 0,
            cells: (0..cpus)
                .map(|from| (0..cpus).map(|to| cell(from, to)).collect())
                .collect(),
        }],
    }
}

#[test]
fn a_matrix_that_fits_and_one_that_goes_on_beneath() {
    assert_snapshot!(drawn(&matrix(4), 80));
    let wide = drawn(&matrix(12), 80);
    assert_eq!(wide.matches("from by to").count(), 2, "{wide}");
}

#[test]
fn a_distribution_rises_to_the_whole() {
    let chart = Chart::Ecdf(vec![Distribution {
        label: "a".to_owned(),
        run: 0,
        value: None,
        samples: (1..=100).map(f64::from).collect(),
    }]);
    assert!(drawn(&chart, 80).contains("100 % ┤"));
}

proptest! {
    #[test]
    fn no_line_is_wider_than_asked(
        medians in prop::collection::vec(0.001f64..1e9, 1..40),
        width in 40usize..130,
    ) {
        let points: Vec<(f64, Value)> = medians
            .iter()
            .enumerate()
            .map(|(index, median)| ((index + 1) as f64, Value::exactly(*median)))
            .collect();
        let chart = Chart::Curve {
            parameter: "copies".to_owned(),
            lines: vec![Line { label: "x".to_owned(), run: 0, points }],
            borders: Vec::new(),
        };
        for line in drawn(&chart, width).lines() {
            prop_assert!(line.chars().count() <= width, "{line}");
        }
    }
}

#[test]
fn a_histogram_has_a_line_for_each_range_and_no_value_is_left_out() {
    let options = TextOptions::plain(80);
    let few = [(20.0, 900), (30.0, 90), (40.0, 10)];
    let drawn = histogram(&few, Unit::Nanoseconds, &Labels::default(), options);
    let lines: Vec<&str> = drawn.lines().filter(|line| line.contains(" ns")).collect();
    assert_eq!(lines.len(), 3, "{drawn}");
    assert!(
        lines[0].starts_with("20.0 ns") && lines[0].contains("90"),
        "{drawn}"
    );
    let mut many: Vec<(f64, u64)> = (20..90).map(|ns| (f64::from(ns), 1000)).collect();
    many.push((1e6, 1));
    let drawn = histogram(&many, Unit::Nanoseconds, &Labels::default(), options);
    assert!(drawn.lines().count() < 22, "{drawn}");
    assert!(
        drawn.contains("1000 µs") || drawn.contains("1.00 ms"),
        "{drawn}"
    );
}
