//! Pairs of CPUs.

use syscost_results::Measurement;

use super::{chosen, rows, svg};
use crate::chart::{Chart, Theme};

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
