//! The change of each group of rows: the geometric mean of their ratios, and how many rows got each
//! verdict.

use std::collections::BTreeMap;

use serde::Serialize;
use syscost_stats::level::Level;
use syscost_stats::multiple::benjamini_hochberg;
use syscost_stats::student;

use super::{Change, ComparedIn, FALSE_DISCOVERIES, MIN_MARGIN, Row};
use crate::row_name;
use crate::{Better, Measurement, Run};

/// Minimum number of benchmarks for estimating how much those of a group differ.
const MIN_BENCHMARKS: usize = 3;

/// A group changed if this share of its rows did so in one direction, however little each.
const ONE_WAY: f64 = 0.75;

/// A group of compared rows, e.g. `syscall`, or all of them.
///
/// Rows of one benchmark move together, and some benchmarks have a hundred: so each benchmark
/// counts once, by the geometric mean of its rows. Of runs measured in turn the interval is
/// Student's t of the logarithms of these. Other runs differ as a whole as well (the hour,
/// other guests), which no row of theirs shows: by how much is known from several runs a side, and
/// joins the standard error. One or two benchmarks are as certain as their rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Group {
    /// Its name: what stands before the first dot of its rows' names. Empty for all rows together.
    pub name: String,
    /// How many of its rows were compared.
    pub rows: usize,
    /// How many of these are no part of the mean: they have no interval, or were measured on a shared core.
    pub left_out: usize,
    /// Of how many benchmarks the mean is.
    pub benchmarks: usize,
    /// Geometric mean of new by base, as a cost: above 1 is dearer. A rate, of which more is
    /// better, counts as base by new. Null if every row is left out, or one that became better or worse.
    pub ratio: Option<f64>,
    /// Lower end of its 95 % confidence interval; null of single runs not measured in turn, and of runs
    /// in turn with fewer than three benchmarks.
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
    /// The chance of such a mean if nothing changed; null without an interval.
    pub p_value: Option<f64>,
    /// Better or worse if the whole interval is, by more than the margin, most rows are, and the chance is
    /// small among those of all groups: what rows show together that none need show alone. Else null.
    pub verdict: Option<Change>,
}

/// How the runs of both sides were measured.
#[derive(Clone, Copy)]
pub(super) enum Runs<'r> {
    /// In turn, round by round.
    InTurn,
    /// One after the other: those of the base, of the other side, and further ones in the base's state.
    Apart([&'r [&'r Run]; 3]),
}

/// The groups by name, all rows together last; empty without rows.
pub(super) fn of(rows: &[Row], runs: Runs<'_>) -> Vec<Group> {
    let mut by_group: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let group = row_name::group(&row.id);
        by_group.entry(group).or_default().push(row);
    }
    let all: Vec<&Row> = rows.iter().collect();
    let mut groups: Vec<Group> = by_group
        .iter()
        .map(|(name, rows)| group(name, rows, runs))
        .collect();
    let chances: Vec<f64> = groups
        .iter()
        .map(|one| one.p_value.unwrap_or(1.0))
        .collect();
    let discovered = benjamini_hochberg(&chances, FALSE_DISCOVERIES);
    for (group, is_discovered) in groups.iter_mut().zip(discovered) {
        group.verdict = group.verdict.filter(|_| is_discovered);
    }
    if groups.len() > 1 {
        groups.push(group("", &all, runs));
    }
    groups
}

fn group(name: &str, rows: &[&Row], runs: Runs<'_>) -> Group {
    // A row without an interval, or measured on a shared core, is left out of the mean, which has
    // an interval.
    let has_interval = |row: &&Row| row.ratio > 0.0 && row.ci95_low.is_some() && row.is_own();
    let counted: Vec<&Row> = rows.iter().copied().filter(has_interval).collect();
    let logs = by_benchmark(&counted, |row| Some(sign(row) * row.ratio.ln()));
    // A mean without a row that changed would speak of other rows than the verdicts beside it.
    let is_changed = |row: &&&Row| matches!(row.verdict, Change::Worse | Change::Better);
    let [all, of_mean] = [rows, &counted].map(|rows| rows.iter().filter(is_changed).count());
    let is_whole = all == of_mean && !logs.is_empty();
    let centre = is_whole.then(|| student::mean(&logs));
    let found = is_whole.then(|| level(&logs, &counted, runs)).flatten();
    let count = |wanted| rows.iter().filter(|row| row.verdict == wanted).count();
    let end = |reach: f64| Some((centre? + reach).exp());
    let [low, high] = [-1.0, 1.0].map(|side| end(side * found?.reach()));
    // Few rows that changed much are no change of the group.
    let most = |is_dearer: bool| {
        let such = counted
            .iter()
            .filter(|row| (sign(row) * row.ratio.ln() > 0.0) == is_dearer);
        such.count() as f64 >= ONE_WAY * counted.len() as f64
    };
    let verdict = match (low, high) {
        (Some(low), _) if low > 1.0 + MIN_MARGIN && most(true) => Some(Change::Worse),
        (_, Some(high)) if high < 1.0 / (1.0 + MIN_MARGIN) && most(false) => Some(Change::Better),
        _ => None,
    };
    Group {
        verdict,
        p_value: found.map(Level::p_value),
        name: name.to_owned(),
        rows: rows.len(),
        left_out: rows.len() - counted.len(),
        benchmarks: logs.len(),
        ratio: end(0.0),
        ci95_low: low,
        ci95_high: high,
        worse: count(Change::Worse),
        better: count(Change::Better),
        inconclusive: count(Change::Inconclusive),
        same: count(Change::Same),
    }
}

/// The sign that turns the logarithm of a row's number into that of its cost.
fn sign(row: &Row) -> f64 {
    match row.better {
        Better::Lower => 1.0,
        Better::Higher => -1.0,
    }
}

/// One number for each benchmark: the mean over those of its rows that have one.
fn by_benchmark(rows: &[&Row], number: impl Fn(&Row) -> Option<f64>) -> Vec<f64> {
    let mut numbers: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for row in rows {
        if let Some(number) = number(row) {
            numbers.entry(&row.id).or_default().push(number);
        }
    }
    numbers.values().map(|of| student::mean(of)).collect()
}

/// The mean of these logarithms and how certain it is; `None` if it is not known how much runs differ.
fn level(logs: &[f64], rows: &[&Row], runs: Runs<'_>) -> Option<Level> {
    let count = logs.len() as f64;
    let (error, freedom) = match logs.len() >= MIN_BENCHMARKS {
        true => (student::deviation(logs) / count.sqrt(), count - 1.0),
        // One or two benchmarks stand for themselves, and are as certain as their rows.
        false => error_of_rows(rows)?,
    };
    let own = Level {
        mean: student::mean(logs),
        error,
        freedom,
    };
    match runs {
        // Of rounds in turn that is all there is, and too little.
        Runs::InTurn if logs.len() < MIN_BENCHMARKS => None,
        Runs::InTurn => Some(own),
        Runs::Apart(sides) => Some(own.minus(shift_of_runs(rows, sides)?)),
    }
}

/// The standard error of the mean of these rows and its degrees of freedom, by what is known of each;
/// `None` without any.
fn error_of_rows(rows: &[&Row]) -> Option<(f64, f64)> {
    let known = rows.iter().filter_map(|row| row.error.zip(row.freedom));
    let (squares, freedom): (Vec<f64>, Vec<u32>) = known
        .map(|(error, freedom)| (error.powi(2), freedom))
        .unzip();
    let error = (student::mean(&squares) / squares.len() as f64).sqrt();
    Some((error, f64::from(*freedom.iter().min()?)))
}

/// By how much whole runs shift these rows' mean ratio, which is zero give or take its error: from
/// the spread of the runs of each side, those of the base together with the further ones in its
/// state. `None` unless one of these has at least two runs.
fn shift_of_runs(rows: &[&Row], [base, new, further]: [&[&Run]; 3]) -> Option<Level> {
    let in_the_state_of_base = [base, further].concat();
    let (mut squares, mut freedom) = (0.0, 0.0);
    for runs in [&*in_the_state_of_base, new] {
        let free = runs.len().saturating_sub(1) as f64;
        squares += free * student::deviation(&shifts(rows, runs)).powi(2);
        freedom += free;
    }
    let share = |side: &[&Run]| 1.0 / side.len() as f64;
    (freedom > 0.0).then(|| Level {
        mean: 0.0,
        error: (squares / freedom * (share(base) + share(new))).sqrt(),
        freedom,
    })
}

/// By how much each run's cost exceeds the mean of these runs, as a logarithm, over the rows that
/// all of them have.
fn shifts(rows: &[&Row], runs: &[&Run]) -> Vec<f64> {
    let known: Vec<BTreeMap<&str, &Measurement>> = runs
        .iter()
        .map(|run| {
            let rows = run.measurements.iter();
            rows.map(|row| (&*row.name, row)).collect()
        })
        .collect();
    let costs: BTreeMap<&str, Vec<f64>> = rows
        .iter()
        .filter_map(|row| {
            let all = known.iter().map(|run| cost(row, run.get(&*row.name)?));
            Some((&*row.name, all.collect::<Option<Vec<f64>>>()?))
        })
        .collect();
    (0..runs.len())
        .map(|run| {
            let shift = |row: &Row| {
                let all = costs.get(&*row.name)?;
                Some(all[run] - student::mean(all))
            };
            let shifts = by_benchmark(rows, shift);
            match shifts.is_empty() {
                true => 0.0,
                false => student::mean(&shifts),
            }
        })
        .collect()
}

/// The logarithm of a row's cost in a run, in the quantity that it was compared in.
fn cost(row: &Row, measured: &Measurement) -> Option<f64> {
    let median = measured.estimate.median.filter(|median| *median > 0.0)?;
    let in_time = sign(row) * median.ln();
    let core = match row.compared_in {
        ComparedIn::Time => 0.0,
        // A document that knows its share gives the median at one frequency already.
        ComparedIn::OneFrequency if measured.core_share.is_some() => 0.0,
        ComparedIn::OneFrequency => row.core_share.map_or(0.0, |core| core.share),
        ComparedIn::CoreCycles => 1.0,
    };
    let cycles = measured.core_cycles.filter(|cycles| *cycles > 0.0);
    Some(cycles.map_or(in_time, |cycles| {
        core * cycles.ln() + (1.0 - core) * in_time
    }))
}
