//! Several runs in one chart: each is drawn with its own numbers, and can be told from the others.

use syscost_results::Measurement;

use super::{rows, value};
use crate::chart::rows::{Kind, choose};
use crate::chart::{Chart, Labels, Style, TextOptions, Theme, Value, draw, text};
use crate::expect::{has, lacks};

/// Rows of `cases`, each costing `median` times its place.
fn costing(cases: &[&str], median: f64) -> Vec<Measurement> {
    let mut rows = rows(cases);
    for (index, row) in rows.iter_mut().enumerate() {
        let value = value(median * (index + 1) as f64);
        row.estimate.median = Some(value.median);
        (row.estimate.ci95_low, row.estimate.ci95_high) = (value.low, value.high);
    }
    rows
}

fn chart(runs: &[Vec<Measurement>], kind: Option<Kind>) -> Chart {
    let runs: Vec<Vec<&Measurement>> = runs.iter().map(|rows| rows.iter().collect()).collect();
    choose(&runs, kind).expect("a chart").chart
}

fn labels(names: &[&str]) -> Labels {
    Labels {
        runs: names.iter().map(|name| (*name).to_owned()).collect(),
        ..Labels::default()
    }
}

fn svg(chart: &Chart, theme: Theme) -> String {
    let unit = syscost_results::Unit::Nanoseconds;
    let text = draw(chart, unit, &labels(&["A: <one>", "B: two"]), theme).into_string();
    text.replace("><", ">\n<")
}

fn of_run(chart: &Chart, run: usize) -> Vec<f64> {
    let median = |value: &Value| value.median;
    match chart {
        Chart::Bars(bars) => {
            let bars = bars.iter().filter(|bar| bar.run == run);
            bars.map(|bar| median(&bar.value)).collect()
        }
        Chart::Ecdf(all) => {
            let all = all.iter().filter(|one| one.run == run);
            all.filter_map(|one| one.value.as_ref().map(median))
                .collect()
        }
        Chart::Curve { lines, .. } => {
            let lines = lines.iter().filter(|line| line.run == run);
            let points = lines.flat_map(|line| &line.points);
            points.map(|(_, value)| median(value)).collect()
        }
        Chart::Heatmap { panels, .. } => {
            let panels = panels.iter().filter(|panel| panel.run == run);
            let cells = panels.flat_map(|panel| panel.cells.iter().flatten());
            cells.copied().flatten().collect()
        }
        Chart::OverRuns { .. } => panic!("not chosen"),
    }
}

/// The cases of four sizes of each of these.
fn points(of: [&str; 2]) -> Vec<String> {
    let sizes = [1, 10, 100, 500].iter();
    let points = sizes.flat_map(|fds| of.map(|of| format!("of={of},fds={fds}")));
    points.collect()
}

#[test]
fn every_kind_draws_each_run_with_its_own_numbers_and_only_those() {
    let points = points(["tcp", "pipe"]);
    let points: Vec<&str> = points.iter().map(String::as_str).collect();
    for kind in [Kind::Bars, Kind::Curve, Kind::Ecdf, Kind::Heatmap] {
        // The second run lacks the last two rows, the first has no number in its first row.
        let mut first = costing(&points, 10.0);
        first[0].status = syscost_results::Status::Withheld;
        first[0].estimate.median = Some(12.34);
        let second = costing(&points[..6], 7.0);
        let chart = chart(&[first, second], Some(kind));
        let sorted = |run| {
            let mut values = of_run(&chart, run);
            values.sort_by(f64::total_cmp);
            values
        };
        assert_eq!(
            sorted(0),
            [20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0],
            "{kind:?}"
        );
        assert_eq!(sorted(1), [7.0, 14.0, 21.0, 28.0, 35.0, 42.0], "{kind:?}");
        for theme in [Theme::Page, Theme::Wide, Theme::Light] {
            let svg = svg(&chart, theme);
            has(&svg, &["A: &lt;one&gt;", "B: two"]);
            assert!(
                ![">12.3 ", ": 12.3 "].iter().any(|text| svg.contains(text)),
                "the withheld number is nowhere: {svg}"
            );
        }
    }
}

#[test]
fn the_largest_type_in_the_smallest_picture_draws_every_kind() {
    let points = points(["compare_exchange", "pipe"]);
    let points: Vec<&str> = points.iter().map(String::as_str).collect();
    let runs = [costing(&points, 10.0), costing(&points, 7e5)];
    let labels = Labels {
        title: "of all kinds".to_owned(),
        source: "Imaginary CPU".to_owned(),
        ..labels(&["A: <one>", "B: two"])
    };
    let unit = syscost_results::Unit::Nanoseconds;
    let mut charts: Vec<Chart> = [Kind::Bars, Kind::Curve, Kind::Ecdf, Kind::Heatmap]
        .map(|kind| chart(&runs, Some(kind)))
        .into();
    charts.push(Chart::OverRuns {
        points: vec![("a".to_owned(), Some(value(5.0))), ("b".to_owned(), None)],
        changes: vec![1],
    });
    for (chart, theme) in charts
        .iter()
        .flat_map(|chart| [Theme::Page, Theme::Wide, Theme::Light].map(|theme| (chart, theme)))
    {
        for height in [None, Some(100.0)] {
            let style = Style {
                width: 200.0,
                height,
                ..Style::from(theme)
            };
            let svg = draw(chart, unit, &labels, style).into_string();
            assert!(svg.ends_with("</svg>"), "{chart:?}");
            lacks(&svg, &["NaN", "inf", "width=\"-", "height=\"-"]);
            // The title is whole, a line after the other.
            let titles = svg.split("class=\"title\">").skip(1);
            let titles = titles.filter_map(|text| text.split('<').next());
            let whole = titles.collect::<String>().replace(' ', "");
            let is_file = theme == Theme::Light;
            assert_eq!(whole, if is_file { "ofallkinds" } else { "" });
        }
    }
}

#[test]
fn runs_differ_in_colour_and_in_shape() {
    let cases = ["of=a", "of=b"];
    let chart = chart(&[costing(&cases, 1.0), costing(&cases, 900.0)], None);
    let svg = svg(&chart, Theme::Page);
    let mut shapes: Vec<String> = Vec::new();
    for color in ["s0", "s1"] {
        let marks = format!("class=\"dot {color}\"");
        let all = svg.lines().filter(|line| line.contains(&marks));
        let all: Vec<&str> = all.collect();
        assert_eq!(all.len(), 2, "a key and the marks: {svg}");
        // What is drawn relative to the place: arcs or straight lines, and how many.
        let path = all[0].split('"').nth(1).expect("a path");
        shapes.push(path.chars().filter(char::is_ascii_alphabetic).collect());
    }
    assert_ne!(shapes[0], shapes[1]);
}

#[test]
fn in_a_terminal_marks_tell_the_runs_without_colours() {
    let cases = ["of=a", "of=b"];
    let chart = chart(&[costing(&cases, 1.0), costing(&cases[1..], 900.0)], None);
    let options = TextOptions::plain(80);
    let unit = syscost_results::Unit::Nanoseconds;
    let text = text(&chart, unit, &labels(&["one", "two"]), options);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("of=a  ● 1.00 ns"), "{text}");
    assert!(lines[1].starts_with("of=b  ● 2.00 ns"), "{text}");
    assert!(lines[2].starts_with("      ■  900 ns"), "{text}");
    assert!(text.contains("\n● one\n■ two\n"), "{text}");

    // A run of which nothing is drawn has no key.
    let alone = self::chart(&[Vec::new(), costing(&cases, 900.0)], None);
    let text = crate::chart::text(&alone, unit, &labels(&["one", "two"]), options);
    assert!(
        text.contains("\n■ two\n") && !text.contains("one"),
        "{text}"
    );
}
