//! Charts of small data, as files and in pages.

mod legible;
mod several;

use insta::assert_snapshot;
use syscost_results::measurement::RoundSamples;
use syscost_results::{Measurement, Run, Status, Unit};

use super::rows::{Kind, LeftOut, NoChart, choose};
use super::*;
use crate::fixture;

fn value(median: f64) -> Value {
    Value {
        median,
        low: Some(0.9 * median),
        high: Some(1.2 * median),
    }
}

fn svg(chart: &Chart, theme: Theme) -> String {
    let labels = Labels {
        title: "A & B".to_owned(),
        description: "medians".to_owned(),
        source: "Imaginary CPU, 2026-11-21, syscost 0.1.0".to_owned(),
        runs: Vec::new(),
    };
    let text = draw(chart, Unit::Nanoseconds, &labels, theme).into_string();
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    // One element per line is easier to read.
    text.replace("><", ">\n<")
}

fn bars(medians: &[f64]) -> Chart {
    let bar = |median: &f64| Bar::new(format!("row <{median}>"), 0, value(*median));
    Chart::Bars(medians.iter().map(bar).collect())
}

#[test]
fn bars_on_a_linear_axis_as_a_file() {
    assert_snapshot!(svg(&bars(&[10.0, 20.0]), Theme::Light));
}

#[test]
fn far_apart_values_are_dots_on_a_logarithmic_axis() {
    let near = svg(&bars(&[10.0, 20.0]), Theme::Page);
    let far = svg(&bars(&[10.0, 2e6]), Theme::Page);
    assert!(near.contains("class=\"bar s0\"") && !near.contains("dot s0"));
    assert!(far.contains("dot s0") && !far.contains("class=\"bar s0\""));
    assert!(far.contains(">10 µs</text>"));
}

#[test]
fn a_file_carries_its_colours_and_a_page_gives_them() {
    let chart = bars(&[1.0]);
    let (light, dark, page) = (
        svg(&chart, Theme::Light),
        svg(&chart, Theme::Dark),
        svg(&chart, Theme::Page),
    );
    assert!(light.contains("<title>A &amp; B</title>") && light.contains("<style>"));
    assert!(light.contains("syscost 0.1.0") && !light.contains("var("));
    assert_ne!(light, dark);
    assert!(!page.contains("<style>") && page.contains("aria-label=\"A &amp; B: medians\""));
    for text in [light, dark, page] {
        assert!(text.contains("viewBox=\"0 0 ") && text.contains("role=\"img\""));
        assert!(text.contains("row &lt;1&gt;") && !text.contains("row <"));
    }
}

#[test]
fn degenerate_data_draws_without_a_panic() {
    let empty = Distribution {
        label: "none".to_owned(),
        run: 0,
        value: None,
        samples: Vec::new(),
    };
    let same = Distribution {
        samples: vec![5.0; 9],
        ..empty.clone()
    };
    for chart in [
        Chart::Bars(Vec::new()),
        bars(&[0.0, 0.0]),
        bars(&[-3.0, 4.0]),
        Chart::Ecdf(vec![empty, same]),
        Chart::Curve {
            parameter: "size".to_owned(),
            lines: Vec::new(),
            borders: Vec::new(),
        },
        Chart::Heatmap {
            parameters: ("from".to_owned(), "to".to_owned()),
            columns: vec!["0".to_owned()],
            rows: vec!["0".to_owned(), "1".to_owned()],
            panels: vec![Panel {
                label: String::new(),
                run: 0,
                cells: vec![vec![None], Vec::new()],
            }],
        },
        Chart::OverRuns {
            points: vec![("a".to_owned(), None)],
            changes: vec![7],
        },
    ] {
        for theme in [Theme::Page, Theme::Dark] {
            assert!(svg(&chart, theme).ends_with("</svg>"));
        }
    }
}

fn rows(cases: &[&str]) -> Vec<Measurement> {
    let like = fixture::row(&fixture::run(), "syscall.null{call=getppid}").clone();
    let row = |(index, case): (usize, &&str)| Measurement {
        id: "syscall.poll".to_owned(),
        name: format!("syscall.poll{{{case}}}"),
        case: fixture::case_of(&format!("syscall.poll{{{case}}}")),
        samples: Some(vec![RoundSamples {
            iterations: 1,
            values: vec![1.0 + index as f64, 2.0, 3.0],
            ..RoundSamples::default()
        }]),
        ..like.clone()
    };
    cases.iter().enumerate().map(row).collect()
}

fn chosen(rows: &[Measurement], kind: Option<Kind>) -> Result<rows::Chosen, NoChart> {
    choose(&[rows.iter().collect()], kind)
}

#[test]
fn the_rows_choose_their_chart() {
    let curve = chosen(
        &rows(&["fds=10,kind=tcp", "fds=2K,kind=tcp", "fds=1K,kind=tcp"]),
        Some(Kind::Curve),
    );
    let Chart::Curve {
        parameter, lines, ..
    } = curve.expect("a curve").chart
    else {
        panic!("three numbers make a curve");
    };
    assert_eq!((parameter.as_str(), lines.len()), ("fds", 1));
    let places: Vec<f64> = lines[0].points.iter().map(|(x, _)| *x).collect();
    assert_eq!(places, [10.0, 1024.0, 2048.0], "by size, K being 1024");

    let kind = |cases: &[&str]| chosen(&rows(cases), None).expect("a chart").chart;
    assert!(matches!(kind(&["of=pipe", "of=file"]), Chart::Bars(_)));
    assert!(matches!(kind(&["of=pipe"]), Chart::Ecdf(_)));
    let pairs: Vec<String> = (0..16)
        .map(|n| format!("from={},to={}", n / 4, n % 4))
        .collect();
    let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
    assert!(matches!(kind(&pairs), Chart::Heatmap { .. }));
    let copies: Vec<String> = ["processes", "threads"]
        .into_iter()
        .flat_map(|of| ["1", "2", "4", "8", "96"].map(|n| format!("as={of},copies={n}")))
        .collect();
    let copies: Vec<&str> = copies.iter().map(String::as_str).collect();
    let Chart::Curve {
        parameter, lines, ..
    } = kind(&copies)
    else {
        panic!("throughput is drawn over the number of copies");
    };
    let names: Vec<&str> = lines.iter().map(|line| line.label.as_str()).collect();
    assert_eq!(parameter, "copies");
    assert_eq!(names, ["as=processes", "as=threads"]);
}

/// Rows of a ring: two numeric parameters, one of them a size, and a third that is not a number.
fn ring() -> Vec<Measurement> {
    let mut cases = Vec::new();
    for tasks in [2, 8, 32, 96] {
        cases.extend(
            ["0", "16K", "1M"].map(|size| format!("cost=switch,tasks={tasks},size={size}")),
        );
    }
    cases.extend([2, 8].map(|tasks| format!("cost=refill,tasks={tasks},size=1M")));
    let cases: Vec<&str> = cases.iter().map(String::as_str).collect();
    let mut rows = rows(&cases);
    for (index, row) in rows.iter_mut().enumerate() {
        row.estimate.median = Some(1000.0 * (1 + index * index) as f64);
    }
    rows
}

#[test]
fn two_numbers_make_a_surface_with_a_panel_for_each_other_value() {
    let found = chosen(&ring(), None).expect("a chart");
    let Chart::Heatmap {
        parameters,
        columns,
        rows,
        panels,
    } = &found.chart
    else {
        panic!("a surface: {:?}", found.chart);
    };
    assert_eq!(
        *parameters,
        ("size".to_owned(), "tasks".to_owned()),
        "the size goes across"
    );
    assert_eq!(*columns, ["0", "16 KiB", "1 MiB"]);
    assert_eq!(*rows, ["2", "8", "32", "96"]);
    let labels: Vec<&str> = panels.iter().map(|panel| panel.label.as_str()).collect();
    assert_eq!(labels, ["cost=switch", "cost=refill"]);
    assert_eq!(panels[1].cells[0], [None, None, Some(145_000.0)]);
    assert_snapshot!(svg(&found.chart, Theme::Dark));

    // With one value of the third parameter there is a single panel without a heading.
    let switch: Vec<Measurement> = ring().into_iter().take(12).collect();
    let found = chosen(&switch, None).expect("a chart");
    assert!(
        matches!(&found.chart, Chart::Heatmap { panels, .. } if panels.len() == 1 && panels[0].label.is_empty())
    );
    // Three by three values make three curves over the size.
    let few: Vec<Measurement> = ring().into_iter().take(9).collect();
    assert!(
        matches!(chosen(&few, None).expect("a chart").chart, Chart::Curve { lines, .. } if lines.len() == 3)
    );
    let forced = chosen(&few, Some(Kind::Heatmap)).expect("a chart");
    assert!(matches!(forced.chart, Chart::Heatmap { .. }));
}

#[test]
fn a_chart_is_chosen_for_very_many_rows_whatever_they_differ_in() {
    let numbered = |count: usize, case: fn(usize) -> String| {
        let cases: Vec<String> = (0..count).map(case).collect();
        rows(&cases.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let diagonal = numbered(20_000, |n| format!("a={n},b={n}"));
    let matrix = numbered(20_000, |n| format!("from={n},to={n}"));
    let panels = numbered(20_000, |n| format!("a={n},b={n},of=x{n}"));
    let strangers = numbered(20_000, |n| format!("key{n}=x"));
    for rows in [&diagonal, &matrix, &panels, &strangers] {
        let found = chosen(rows, None).expect("a chart");
        assert!(matches!(found.chart, Chart::Bars(bars) if bars.len() == 20_000));
        let refused = chosen(rows, Some(Kind::Heatmap));
        assert!(
            matches!(refused, Err(NoChart::NoPair(_))),
            "{:?}",
            rows[0].name
        );
    }
    let curve = chosen(&diagonal, Some(Kind::Curve)).expect("a curve");
    assert!(matches!(curve.chart, Chart::Curve { lines, .. } if lines.len() == 20_000));
    // Half as many rows that fill their cells are a matrix.
    let full = numbered(10_000, |n| format!("from={},to={}", n / 100, n % 100));
    let found = chosen(&full, None).expect("a chart");
    assert!(matches!(found.chart, Chart::Heatmap { .. }));
}

#[test]
fn labels_tell_only_what_differs() {
    let Chart::Bars(bars) = chosen(&rows(&["kind=tcp,of=a", "kind=tcp,of=b"]), Some(Kind::Bars))
        .expect("bars")
        .chart
    else {
        panic!("bars were asked for");
    };
    let labels: Vec<&str> = bars.iter().map(|bar| bar.label.as_str()).collect();
    assert_eq!(labels, ["of=a", "of=b"]);
}

#[test]
fn parameters_stand_in_the_order_of_the_name() {
    let labels = |rows: &[Measurement]| match chosen(rows, Some(Kind::Bars)).expect("bars").chart {
        Chart::Bars(bars) => bars.into_iter().map(|bar| bar.label).collect::<Vec<_>>(),
        _ => panic!("bars were asked for"),
    };
    let mut found = rows(&[
        "kind=pipe,ready=first,fds=10",
        "kind=tcp,ready=first,fds=50",
    ]);
    assert_eq!(labels(&found), ["kind=pipe,fds=10", "kind=tcp,fds=50"]);
    // With several benchmarks, in selector syntax after the benchmark.
    found[1].id = "syscall.null".to_owned();
    found[1].name = "syscall.null{kind=tcp,ready=first,fds=50}".to_owned();
    let names = [
        "syscall.poll{kind=pipe,fds=10}",
        "syscall.null{kind=tcp,fds=50}",
    ];
    assert_eq!(labels(&found), names);
}

#[test]
fn a_long_name_is_wrapped_not_cut() {
    let label = format!(
        "via=clock_nanosleep,delay=50us,slack=default,{}",
        "x".repeat(99)
    );
    let chart = Chart::Bars(vec![Bar::new(label.clone(), 0, value(5.0))]);
    for theme in [Theme::Page, Theme::Light] {
        let names: String = svg(&chart, theme)
            .lines()
            .filter(|line| line.contains("class=\"name"))
            .filter_map(|line| Some(line.split_once('>')?.1.split_once('<')?.0.to_owned()))
            .collect();
        assert_eq!(names, label);
    }
}

#[test]
fn what_lies_beyond_the_axis_is_reported() {
    let one = |label: &str, late: usize| Distribution {
        label: label.to_owned(),
        run: 0,
        value: None,
        samples: (0..100)
            .map(|index| {
                if index < late {
                    9000.0
                } else {
                    100.0 + index as f64
                }
            })
            .collect(),
    };
    let pair = vec![one("a", 4), one("b", 0)];
    let text = svg(&Chart::Ecdf(pair), Theme::Light);
    assert!(text.contains("4 % beyond ▸"), "{text}");
    assert_eq!(text.matches("beyond").count(), 1, "{text}");
    assert_eq!(text.matches("class=\"arrow").count(), 1, "{text}");
    let alone = svg(&Chart::Ecdf(vec![one("a", 4)]), Theme::Page);
    assert!(alone.contains("4 % beyond ▸"));
}

#[test]
fn what_makes_no_chart_says_why() {
    let two = rows(&["of=a", "of=b"]);
    assert_eq!(chosen(&two, Some(Kind::Curve)), Err(NoChart::NoParameter));
    let no_pair = |cases: &[&str]| {
        let error = chosen(&rows(cases), Some(Kind::Heatmap)).expect_err("no heat map");
        error.to_string()
    };
    assert_eq!(
        no_pair(&["of=a", "of=b"]),
        "a heat map needs rows of one benchmark that differ in exactly two parameters; these differ in of only; \
         draw --kind bars"
    );
    assert!(no_pair(&["a=1,b=1,c=1", "a=2,b=2,c=2"]).ends_with(
        "these differ in a, b, c; hold all but two, one of them by 'syscall.poll{*c=1*}'"
    ));
    let mut two_ids = two.clone();
    two_ids[1].id = "syscall.null".to_owned();
    let error = chosen(&two_ids, Some(Kind::Heatmap)).expect_err("two benchmarks");
    assert!(
        error
            .to_string()
            .ends_with("these are of syscall.poll and syscall.null; name one")
    );
    let mut bare = two.clone();
    bare[1].samples = None;
    assert_eq!(
        chosen(&bare, Some(Kind::Ecdf))
            .expect_err("no samples")
            .to_string(),
        "syscall.poll{of=b} has no samples to draw a distribution of; measure without --no-samples, or draw --kind bars"
    );
    let mut mixed = two.clone();
    mixed[1].unit = Unit::Count;
    assert_eq!(
        chosen(&mixed, None).expect_err("two units").to_string(),
        "syscall.poll{of=a} is in ns, syscall.poll{of=b} in count; one chart shows one unit, so name rows of one"
    );
}

#[test]
fn a_withheld_number_is_not_drawn_but_reported() {
    let mut two = rows(&["of=a", "of=b"]);
    two[1].status = Status::Withheld;
    two[1].reason = Some("it called nothing".to_owned());
    let found = chosen(&two, Some(Kind::Bars)).expect("one is left");
    assert!(matches!(&found.chart, Chart::Bars(bars) if bars.len() == 1));
    assert_eq!(
        found.left_out,
        [LeftOut {
            run: 0,
            name: "syscall.poll{of=b}".to_owned(),
            reason: "withheld: it called nothing".to_owned()
        }]
    );
    let error = chosen(&two[1..], Some(Kind::Ecdf)).expect_err("none is left");
    assert_eq!(
        error.to_string(),
        "none of these rows has a number: syscall.poll{of=b} withheld: it called nothing"
    );
}

#[test]
fn the_fixture_draws_where_it_has_numbers() {
    let run: Run = fixture::run();
    let rows: Vec<&Measurement> = run
        .measurements
        .iter()
        .filter(|row| row.unit == Unit::Nanoseconds)
        .collect();
    let found = choose(&[rows], None).expect("a chart");
    assert_eq!(found.left_out.len(), 6);
    assert!(svg(&found.chart, Theme::Light).contains("clock_read"));
}

#[test]
fn a_monstrous_value_hangs_no_axis() {
    for values in [[1.0, 1e300], [1e-300, 1e300], [1.0, f64::INFINITY]] {
        let scale = Scale::fit(values, Begin::Near, (0.0, 1.0));
        assert!(scale.ticks(syscost_results::Unit::Nanoseconds, 5).len() < 10);
    }
}

/// Round trips between each pair of `cpus` CPUs, by two methods.
fn matrix(cpus: u32) -> Vec<Measurement> {
    let pairs = || (0..cpus).flat_map(|from| (0..cpus).map(move |to| (from, to)));
    let cases: Vec<String> = ["exchange", "message"]
        .into_iter()
        .flat_map(|method| {
            let apart = pairs().filter(|(from, to)| from != to);
            apart.map(move |(from, to)| format!("via={method},from={from},to={to}"))
        })
        .collect();
    let cases: Vec<&str> = cases.iter().map(String::as_str).collect();
    rows(&cases)
}

#[test]
fn pairs_of_cpus_make_a_matrix_with_an_empty_diagonal() {
    for cpus in [2, 3, 8] {
        let Chart::Heatmap {
            parameters,
            columns,
            rows,
            panels,
        } = chosen(&matrix(cpus), None).expect("a chart").chart
        else {
            panic!("{cpus} CPUs make a matrix");
        };
        assert_eq!(parameters, ("to".to_owned(), "from".to_owned()));
        let numbers: Vec<String> = (0..cpus).map(|cpu| cpu.to_string()).collect();
        assert_eq!((&columns, &rows), (&numbers, &numbers));
        let labels: Vec<&str> = panels.iter().map(|panel| panel.label.as_str()).collect();
        assert_eq!(labels, ["via=exchange", "via=message"]);
        for panel in &panels {
            for (from, cells) in panel.cells.iter().enumerate() {
                let empty: Vec<usize> =
                    (0..cells.len()).filter(|to| cells[*to].is_none()).collect();
                assert_eq!(empty, [from], "{cpus} CPUs");
            }
        }
    }
    let eight = chosen(&matrix(8), None).expect("a chart").chart;
    let svg = svg(&eight, Theme::Page);
    let cell = |from: u32, to: u32| format!("via=exchange, to {to}, from {from}: ");
    assert!(svg.contains(&cell(7, 0)) && svg.contains(&cell(0, 7)));
    assert!(!svg.contains(&cell(3, 3)));

    // A single pair is not a matrix, nor are pairs whose sides are never equal.
    let pair = matrix(2).into_iter().step_by(2).collect::<Vec<_>>();
    assert!(matches!(
        chosen(&pair, None).expect("a chart").chart,
        Chart::Bars(_)
    ));
}
