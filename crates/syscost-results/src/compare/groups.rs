//! What became of each group of rows: the geometric mean of their ratios, and how many got which verdict.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Change, Row};
use crate::Better;
use crate::stats::{interval, student};

/// Fewest benchmarks that tell how far those of a group differ.
const MIN_BENCHMARKS: usize = 3;

/// A group of compared rows, e.g. `syscall`, or all of them.
///
/// Rows of one benchmark move together, and some benchmarks have a hundred: so each benchmark counts once, by the geometric mean
/// of its rows, and the interval is Student's t of the logarithms of these.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Group {
    /// Its name: what stands before the first dot of its rows' names. Empty for all rows together.
    pub name: String,
    /// How many of its rows were compared.
    pub rows: usize,
    /// How many of these are no part of the mean: they have no interval, or were measured beside a neighbour.
    pub left_out: usize,
    /// Of how many benchmarks the mean is.
    pub benchmarks: usize,
    /// Geometric mean of new by base, as a cost: above 1 is dearer. A rate, of which more is better, counts as base by new.
    pub ratio: f64,
    /// Lower end of its 95 % confidence interval; null with fewer than three benchmarks.
    pub ci95_low: Option<f64>,
    /// Upper end of it.
    pub ci95_high: Option<f64>,
    /// Rows that became worse.
    pub worse: usize,
    /// Rows that became better.
    pub better: usize,
    /// Rows whose samples do not tell.
    pub inconclusive: usize,
    /// Rows that are the same within their margin.
    pub same: usize,
}

/// The groups by name, all rows together last; nothing without rows.
pub(super) fn of(rows: &[Row]) -> Vec<Group> {
    let mut by_group: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let group = row.id.split('.').next().unwrap_or_default();
        by_group.entry(group).or_default().push(row);
    }
    let all: Vec<&Row> = rows.iter().collect();
    let mut groups: Vec<Group> = by_group
        .iter()
        .filter_map(|(name, rows)| group(name, rows))
        .collect();
    if groups.len() > 1 {
        groups.extend(group("", &all));
    }
    groups
}

/// `None` without a row whose ratio has a logarithm.
fn group(name: &str, rows: &[&Row]) -> Option<Group> {
    let mut by_benchmark: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    // A row without an interval, or of a core that a neighbour used, is no part of a mean that has one.
    let tells = |row: &&&Row| row.ratio > 0.0 && row.ci95_low.is_some() && row.is_for_gates();
    let left_out = rows.iter().filter(|row| !tells(row)).count();
    for row in rows.iter().filter(tells) {
        let cost = match row.better {
            Better::Lower => row.ratio.ln(),
            Better::Higher => -row.ratio.ln(),
        };
        by_benchmark.entry(&row.id).or_default().push(cost);
    }
    let logs: Vec<f64> = by_benchmark
        .values()
        .map(|logs| student::mean(logs))
        .collect();
    let centre = (!logs.is_empty()).then(|| student::mean(&logs))?;
    let found =
        student::interval(&logs, interval::CONFIDENCE).filter(|_| logs.len() >= MIN_BENCHMARKS);
    let count = |wanted| rows.iter().filter(|row| row.verdict == wanted).count();
    Some(Group {
        name: name.to_owned(),
        rows: rows.len(),
        left_out,
        benchmarks: logs.len(),
        ratio: centre.exp(),
        ci95_low: found.map(|(low, _)| low.exp()),
        ci95_high: found.map(|(_, high)| high.exp()),
        worse: count(Change::Worse),
        better: count(Change::Better),
        inconclusive: count(Change::Inconclusive),
        same: count(Change::Same),
    })
}
