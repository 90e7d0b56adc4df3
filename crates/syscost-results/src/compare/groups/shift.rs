//! How much whole runs differ, whatever was changed: in a bad hour all rows of a run cost more.

use std::collections::BTreeMap;

use super::super::{ComparedIn, Row};
use super::{Error, by_benchmark, sign};
use crate::stats::student;
use crate::{Measurement, Run};

/// The squared standard error of these rows' mean ratio that is due to differences between whole
/// runs: from the spread of the runs of each side, those of the base together with the further ones
/// in its state. `None` unless one of these has at least two runs.
pub(super) fn error(rows: &[&Row], [base, new, further]: [&[&Run]; 3]) -> Option<Error> {
    let in_the_state_of_base = [base, further].concat();
    let (mut squares, mut freedom) = (0.0, 0.0);
    for runs in [&*in_the_state_of_base, new] {
        let free = runs.len().saturating_sub(1) as f64;
        squares += free * student::deviation(&of(rows, runs)).powi(2);
        freedom += free;
    }
    let share = |side: &[&Run]| 1.0 / side.len() as f64;
    (freedom > 0.0).then(|| Error {
        square: squares / freedom * (share(base) + share(new)),
        freedom,
    })
}

/// By how much each run's cost exceeds the mean of these runs, as a logarithm, over the rows that
/// all of them have.
fn of(rows: &[&Row], runs: &[&Run]) -> Vec<f64> {
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
