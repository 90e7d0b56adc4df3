//! Charts are legible: lines are distinguishable, names complete, cells show their values.

use super::{bars, chosen, rows, svg, value};
use crate::chart::{Bar, Chart, Line, Panel, Theme, canvas};

#[test]
fn lines_join_only_what_has_something_between() {
    let is_curve = |cases: &[String]| {
        let cases: Vec<&str> = cases.iter().map(String::as_str).collect();
        let found = chosen(&rows(&cases), None).expect("a chart");
        matches!(found.chart, Chart::Curve { .. })
    };
    let of = |key: &str, values: &[&str]| -> Vec<String> {
        let cases = values.iter().map(|value| format!("{key}={value}"));
        cases.collect()
    };
    assert!(is_curve(&of("fds", &["1", "10", "100", "500"])));
    assert!(!is_curve(&of("fds", &["10", "500"])), "too few");
    assert!(is_curve(&of("size", &["4K", "1M", "16M"])), "sizes");
    assert!(
        !is_curve(&of("level", &["1", "2", "3", "4"])),
        "level 2.5 is nothing"
    );
    // More lines than can be distinguished become bars.
    let lines = |count: usize| -> Vec<String> {
        let cases = |op| ["24K", "384K", "12M"].map(|size| format!("op=o{op},size={size}"));
        (0..count).flat_map(cases).collect()
    };
    assert!(is_curve(&lines(12)) && !is_curve(&lines(13)));
}

#[test]
fn names_beside_lines_are_whole_and_within_the_picture() {
    let point = |x: f64| (x, value(x));
    let line = |index: usize| {
        Line::new(
            format!("op=write_nontemporal,simd=avx512,threads={index}"),
            0,
            [1.0, 2.0, 4.0].map(point).to_vec(),
        )
    };
    let lines: Vec<Line> = (0..8).map(line).collect();
    let chart = Chart::Curve {
        parameter: "size".to_owned(),
        lines: lines.clone(),
        borders: Vec::new(),
    };
    for (theme, width) in [(Theme::Page, 330.0), (Theme::Light, 760.0)] {
        let mut names = String::new();
        let mut middles = Vec::new();
        for text in svg(&chart, theme)
            .lines()
            .filter(|line| line.contains("class=\"label"))
        {
            let number = |key: &str| -> f64 {
                let (_, rest) = text.split_once(key).expect("a place");
                rest.split('"')
                    .next()
                    .expect("a number")
                    .parse()
                    .expect("a number")
            };
            let written = text.split_once('>').expect("a text").1;
            let written = written.split('<').next().expect("a text");
            assert!(
                number(" x=\"") + canvas::width_of(written) <= width,
                "{text}"
            );
            middles.push(number(" y=\""));
            names.push_str(written);
        }
        for line in &lines {
            assert!(names.contains(&line.label), "{names}");
        }
        assert!(
            middles
                .windows(2)
                .all(|pair| (pair[1] - pair[0]).abs() > 11.0),
            "{middles:?}"
        );
    }
}

#[test]
fn cells_tell_their_values_where_these_fit() {
    let map = |columns: usize, factor: f64| Chart::Heatmap {
        parameters: ("chains".to_owned(), "size".to_owned()),
        columns: (0..columns).map(|column| column.to_string()).collect(),
        rows: vec!["64 KiB".to_owned(), "1 MiB".to_owned()],
        panels: vec![Panel {
            label: String::new(),
            run: 0,
            cells: [1.0, factor]
                .map(|factor| {
                    (1..=columns)
                        .map(|column| Some(factor * column as f64))
                        .collect()
                })
                .to_vec(),
        }],
    };
    let written = |chart: &Chart| -> Vec<String> {
        let svg = svg(chart, Theme::Page);
        let values = svg.lines().filter(|line| line.contains("class=\"value t"));
        values
            .map(|line| line.split(['<', '>']).nth(2).expect("a text").to_owned())
            .collect()
    };
    assert_eq!(
        written(&map(2, 2.0)),
        ["1.00 ns", "2.00 ns", "2.00 ns", "4.00 ns"]
    );
    assert_eq!(
        written(&map(6, 2.0))[..2],
        ["1.00", "2.00"],
        "the legend has the unit"
    );
    assert!(
        written(&map(11, 1e6)).is_empty(),
        "two units would both have to be shown"
    );
    assert!(written(&map(60, 2.0)).is_empty());
    // The legend lies within the picture.
    let svg = svg(&map(11, 100.0), Theme::Page);
    let words = svg.lines().find(|line| line.contains("logarithmic axis"));
    assert!(words.is_some_and(|line| line.contains(" mid\"")));
}

#[test]
fn in_a_page_names_and_figures_share_lines_of_a_narrow_picture() {
    let bar = |label: &str, median: f64| Bar::new(label.to_owned(), 0, value(median));
    let chart = Chart::Bars(vec![
        bar("via=clock_nanosleep,delay=50us,slack=default", 5.0),
        bar("b", 55.0),
    ]);
    let svg = svg(&chart, Theme::Page);
    assert!(svg.contains("viewBox=\"0 0 330 "), "{svg}");
    // Height, left end and right end of each text beside the marks.
    let mut spans: Vec<(String, f64, f64)> = Vec::new();
    for text in svg
        .lines()
        .filter(|line| line.contains("class=\"name") || line.contains("class=\"value"))
    {
        let parts: Vec<&str> = text.split('"').collect();
        let x: f64 = parts[1].parse().expect("a place");
        let written = text.split(['<', '>']).nth(2).expect("a text");
        let width = canvas::width_of(written);
        spans.push(match text.contains(" end\"") {
            true => (parts[3].to_owned(), x - width, x),
            false => (parts[3].to_owned(), x, x + width),
        });
    }
    assert_eq!(
        spans.len(),
        5,
        "a name of two lines, another, two figures: {spans:?}"
    );
    for (index, (y, left, right)) in spans.iter().enumerate() {
        assert!(*left >= 0.0 && *right <= 330.0, "{spans:?}");
        let mut others = spans[index + 1..].iter();
        assert!(
            !others.any(|(height, from, to)| height == y && from < right && left < to),
            "{spans:?}"
        );
    }
}

#[test]
fn only_far_apart_values_have_a_logarithmic_axis() {
    let bars = |far: f64| {
        let bar = |median: f64| Bar::new(String::new(), 0, value(median));
        Chart::Bars(vec![bar(1.0), bar(far)])
    };
    let says =
        |far: f64| svg(&bars(far), Theme::Page).contains(">time per operation, logarithmic axis<");
    assert!(!says(2.0) && says(2e3));
}

#[test]
fn a_dot_without_an_interval_is_hollow() {
    let chart = |has_interval: bool| {
        let Chart::Bars(mut all) = bars(&[10.0, 2e6]) else {
            unreachable!("they are bars");
        };
        if !has_interval {
            (all[1].value.low, all[1].value.high) = (None, None);
        }
        Chart::Bars(all)
    };
    for theme in [Theme::Page, Theme::Light] {
        assert_eq!(svg(&chart(false), theme).matches("dot open s0").count(), 1);
        assert!(!svg(&chart(true), theme).contains("dot open"));
    }
}
