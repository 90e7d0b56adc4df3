//! The page of a hand-made comparison, of one run with two.

use syscost_results::compare::{ComparedIn, Pair};

use super::*;
use crate::compare::tests;

#[test]
fn a_comparison_says_verdicts_and_what_it_refused() {
    let mut compared = tests::comparison();
    compared.rows.truncate(1);
    compared.facts[1].meaning = Some("another kernel".to_owned());
    compared.paired = true;
    let row = &mut compared.rows[0];
    row.name = "syscall.null{call=<b>}".to_owned();
    row.p_value = Some(0.0002);
    row.notes = vec!["interference may be part of the difference".to_owned()];
    row.p99 = Some(Pair {
        base: 100.0,
        new: 150.0,
    });
    let of = |id: &String| Run {
        id: id.clone(),
        ..Run::default()
    };
    let [mut base, new] = [&compared.base, &compared.new].map(|side| of(&side.runs[0]));
    base.measurements = fixture::run().measurements;
    base.measurements.truncate(1);
    base.measurements[0].name = compared.rows[0].name.clone();
    let further = of(&compared.new.runs[1]);
    let options = PageOptions {
        comparison: Some(compared),
        ..PageOptions::default()
    };
    let page = page(&[&base, &new, &further], &options);
    for text in [
        "<b>1</b> worse",
        "<b>0</b> better",
        "unknown -&gt; Mitigation: IBRS",
        "syscall.null{call=&lt;b&gt;}",
        "1.714 to 1.890",
        "its definition changed",
        "withheld on the new side",
        "another kernel",
        "interference may be part",
        "Measured in turn",
        "<td data-head=\"side\">A</td>",
        "<td data-head=\"side\">B</td>",
        ">change</th>",
        "1 further run shows how far runs differ",
    ] {
        assert!(page.contains(text), "not found: {text}");
    }
    let data = data_of(&page);
    let lines = data["rows"][0]["c"].as_array().expect("its change");
    let lines: Vec<&str> = lines
        .iter()
        .filter_map(|line| data["texts"][line.as_u64()? as usize].as_str())
        .collect();
    assert_eq!(
        lines,
        [
            "worse: the whole interval lies beyond the margin of 2.0 %",
            "margin of a change: 2.0 %",
            "could have found a change of 12 %",
            "p < 0.001",
            "interference may be part of the difference",
            "p99 100 ns -> 150 ns (1.50x)",
        ]
    );
}

#[test]
fn a_ratio_beyond_the_axis_is_an_arrow() {
    for (low, ratio, high, arrows) in [
        (1.1, 1.5, 1.9, [0, 0]),
        (1.5, 4.0, 10.0, [0, 1]),
        (0.1, 0.4, 0.9, [1, 0]),
        (0.1, 1.1, 10.0, [1, 1]),
        (3.0, 4.0, 5.0, [0, 1]),
    ] {
        let mut compared = tests::comparison();
        compared.rows.truncate(1);
        let row = &mut compared.rows[0];
        (row.ci95_low, row.ratio, row.ci95_high) = (Some(low), ratio, Some(high));
        let section = Changes::new(&compared, None, &[]).section().into_string();
        let drawn = ["below", "above"].map(|class| format!("<em class=\"{class}\">"));
        let drawn = drawn.map(|arrow| section.matches(&arrow).count());
        assert_eq!(drawn, arrows, "{low} to {high}");
    }
}

#[test]
fn the_glance_says_of_a_ratio_what_its_row_says() {
    let mut compared = tests::comparison();
    let row = &mut compared.rows[0];
    (row.compared_in, row.better) = (ComparedIn::CoreCycles, Better::Higher);
    let name = row.name.clone();
    let changes = Changes::new(&compared, None, &[]);
    for cell in [changes.cells(&name), changes.ratio(&name)] {
        let cell = cell.into_string();
        let text = "<b>1.800</b> ↑<small>1.714 to 1.890 · cycles</small>";
        assert!(cell.contains(text) && cell.contains("worse"), "{cell}");
    }
}
