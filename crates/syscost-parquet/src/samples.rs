//! The table `samples`: one line per sample.

use std::collections::BTreeMap;

use parquet::data_type::ByteArray;
use syscost_report::export::{ExportError, parameters, word};
use syscost_results::estimate::selection::Selection;
use syscost_results::measurement::Cause;
use syscost_results::{Measurement, RoundSamples, Run};

use crate::column::{Columns, Table};

/// A line.
struct Sample<'r> {
    row: &'r Shared<'r>,
    round: &'r RoundSamples,
    index: usize,
    /// Its value as the row's numbers have it; none if they are not from this sample.
    counted: Option<f64>,
    causes: Option<String>,
}

/// What all samples of a row share; cloning these texts copies no bytes.
struct Shared<'r> {
    run_id: &'r str,
    run: ByteArray,
    name: ByteArray,
    id: ByteArray,
    parameters: ByteArray,
    unit: ByteArray,
}

/// The columns without any samples.
pub(super) fn no_run() -> Result<Table, ExportError> {
    columns(&[])
}

/// The samples of a run. A withheld row has none: a number that must not be believed must not
/// reappear by pooling samples.
pub(super) fn table(run: &Run) -> Result<Table, ExportError> {
    let rows = run.measurements.iter();
    let rows: Vec<_> = rows.map(|row| (row, Shared::new(run, row))).collect();
    let mut samples = Vec::new();
    for (row, shared) in &rows {
        let selected = Selection::of_row(row);
        for round in row.shown().rounds {
            samples.extend(Sample::all(shared, round, &selected));
        }
    }
    columns(&samples)
}

impl<'r> Shared<'r> {
    fn new(run: &'r Run, row: &Measurement) -> Self {
        Shared {
            run_id: &run.id,
            run: run.id.as_str().into(),
            name: row.name.as_str().into(),
            id: row.id.as_str().into(),
            parameters: parameters(&row.case).into_bytes().into(),
            unit: row.unit.symbol().into(),
        }
    }
}

impl<'r> Sample<'r> {
    /// Those of a round.
    fn all(
        row: &'r Shared<'r>,
        round: &'r RoundSamples,
        selected: &Selection<'_>,
    ) -> impl Iterator<Item = Self> {
        let mut counted: BTreeMap<usize, f64> = selected.counted(round).into_iter().collect();
        let mut causes: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for disturbance in &round.disturbed {
            let sample = causes.entry(disturbance.sample as usize).or_default();
            sample.push(word(&disturbance.cause));
        }
        // Documents with ratios have no such cause.
        for index in (0..round.ratios.len()).filter(|index| round.is_shared(*index)) {
            causes
                .entry(index)
                .or_default()
                .push(word(&Cause::SharedCore));
        }
        (0..round.values.len()).map(move |index| Sample {
            row,
            round,
            index,
            counted: counted.remove(&index),
            causes: causes.remove(&index).map(|causes| causes.join(" ")),
        })
    }

    /// The value without what was subtracted: if nothing was, the document has no separate raw values.
    fn raw(&self) -> Option<f64> {
        let RoundSamples { values, raw, .. } = self.round;
        let all = if raw.is_empty() { values } else { raw };
        all.get(self.index).copied()
    }
}

fn columns(samples: &[Sample<'_>]) -> Result<Table, ExportError> {
    Columns::of(samples, |one| one.row.run_id)
        .shared_text("run", |one| Some(one.row.run.clone()))
        .shared_text("name", |one| Some(one.row.name.clone()))
        .shared_text("id", |one| Some(one.row.id.clone()))
        .shared_text("parameters", |one| Some(one.row.parameters.clone()))
        .shared_text("unit", |one| Some(one.row.unit.clone()))
        .int("round", |one| Some(one.round.round))
        .int("sample", |one| u32::try_from(one.index).ok())
        .double("value", |one| Some(one.round.values[one.index]))
        .bool("counted", |one| Some(one.counted.is_some()))
        .double("value_corrected", |one| one.counted)
        .double("raw", Sample::raw)
        .int("cpu", |one| Some(one.round.cpu))
        .long("iterations", |one| Some(one.round.iterations))
        .text("disturbed", |one| one.causes.clone())
        .double("core_ghz", |one| one.round.core_ghz)
        .double("steal_percent", |one| one.round.steal_percent)
        // The document has a zero if the frequency at a sample is unknown.
        .double("sample_ghz", |one| {
            let ghz = one.round.sample_ghz.get(one.index).copied();
            ghz.filter(|ghz| *ghz > 0.0)
        })
        .double("usual_ghz", |one| one.round.usual_ghz)
        .double("alone_percent", |one| one.round.alone_percent)
        .double("ratio", |one| {
            let ratio = one.round.ratios.get(one.index);
            ratio.map(|ratio| f64::from(*ratio) / 1e3)
        })
        .double("own_limit", |one| one.round.own_limit)
        .table()
}
