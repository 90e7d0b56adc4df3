//! That charts can be read: lines told apart, names whole, cells with their values.

use super::{chosen, rows, svg, value};
use crate::chart::{Chart, Line, Panel, Theme, canvas};

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
    // More lines than can be told apart are bars.
    let lines = |count: usize| -> Vec<String> {
        let cases = |op| ["24K", "384K", "12M"].map(|size| format!("op=o{op},size={size}"));
        (0..count).flat_map(cases).collect()
    };
    assert!(is_curve(&lines(12)) && !is_curve(&lines(13)));
}

#[test]
fn names_beside_lines_are_whole_and_within_the_picture() {
    let point = |x: f64| (x, value(x));
    let line = |index: usize| Line {
        label: format!("op=write_nontemporal,simd=avx512,threads={index}"),
        points: [1.0, 2.0, 4.0].map(point).to_vec(),
    };
    let lines: Vec<Line> = (0..8).map(line).collect();
    let chart = Chart::Curve {
        parameter: "size".to_owned(),
        lines: lines.clone(),
    };
    for (theme, width) in [(Theme::Page, 560.0), (Theme::Light, 760.0)] {
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
        let values = svg.lines().filter(|line| line.contains("class=\"value"));
        values
            .map(|line| line.split(['<', '>']).nth(2).expect("a text").to_owned())
            .collect()
    };
    assert_eq!(
        written(&map(2, 2.0)),
        ["1.00 ns", "2.00 ns", "2.00 ns", "4.00 ns"]
    );
    assert_eq!(
        written(&map(11, 2.0))[..2],
        ["1.00", "2.00"],
        "the legend has the unit"
    );
    assert!(
        written(&map(11, 1e6)).is_empty(),
        "two units would need telling"
    );
    assert!(written(&map(60, 2.0)).is_empty());
    // The legend is within the picture.
    let svg = svg(&map(11, 100.0), Theme::Page);
    let words = svg.lines().find(|line| line.contains("equal steps"));
    assert!(words.is_some_and(|line| line.contains(" mid\"")));
}
