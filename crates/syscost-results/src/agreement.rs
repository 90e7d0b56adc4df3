//! How well several runs of one machine agree.

use std::collections::BTreeMap;

use syscost_stats::order::quantile;

use crate::{Run, Status};

/// How far the figures of the same rows lie apart between runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    /// Number of runs.
    pub runs: usize,
    /// Number of rows with a figure in every run.
    pub rows: usize,
    /// From the smallest figure to the largest, in percent of the smallest: the median row's.
    pub half_within: f64,
    /// The same of nine rows in ten.
    pub nine_in_ten_within: f64,
}

/// How well these runs agree; `None` of a single one, or if no row has a positive figure in each.
pub fn agreement(runs: &[&Run]) -> Option<Agreement> {
    let mut figures: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for row in runs.iter().flat_map(|run| &run.measurements) {
        let figure = row.estimate.median.filter(|figure| *figure > 0.0);
        if let (Status::Ok, Some(figure)) = (row.status, figure) {
            figures.entry(&row.name).or_default().push(figure);
        }
    }
    let apart = |figures: &Vec<f64>| {
        let least = figures.iter().copied().fold(f64::INFINITY, f64::min);
        let most = figures.iter().copied().fold(0.0, f64::max);
        100.0 * (most / least - 1.0)
    };
    let in_all = figures.values().filter(|found| found.len() == runs.len());
    let apart: Vec<f64> = in_all.map(apart).collect();
    Some(Agreement {
        runs: (runs.len() > 1).then_some(runs.len())?,
        rows: apart.len(),
        half_within: quantile(&apart, 0.5)?,
        nine_in_ten_within: quantile(&apart, 0.9)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Measurement;

    #[test]
    fn only_rows_with_a_figure_in_every_run_are_judged() {
        let run = |figures: &[(&str, f64)]| {
            let row = |(name, figure): &(&str, f64)| {
                let mut row = Measurement {
                    name: (*name).to_owned(),
                    status: Status::Ok,
                    ..Measurement::default()
                };
                row.estimate.median = Some(*figure);
                row
            };
            Run {
                measurements: figures.iter().map(row).collect(),
                ..Run::default()
            }
        };
        let runs = [
            run(&[("a", 100.0), ("b", 10.0), ("level", 0.0), ("late", 1.0)]),
            run(&[("a", 102.0), ("b", 10.0), ("level", 0.0)]),
            run(&[("a", 104.0), ("b", 10.0), ("level", 0.0)]),
        ];
        let runs: Vec<&Run> = runs.iter().collect();
        let found = agreement(&runs).expect("two rows");
        assert_eq!((found.runs, found.rows), (3, 2));
        assert!((found.half_within - 2.0).abs() < 1e-9, "{found:?}");
        assert!((found.nine_in_ten_within - 3.6).abs() < 1e-9, "{found:?}");
        assert_eq!(agreement(&runs[..1]), None);
        assert_eq!(agreement(&[&Run::default(), &Run::default()]), None);
    }
}
