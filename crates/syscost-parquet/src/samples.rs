//! The table `samples`: one line per sample.

use std::collections::BTreeMap;

use parquet::data_type::ByteArray;
use syscost_report::export::{ExportError, parameters, word};
use syscost_results::estimate::selection::Selection;
use syscost_results::measurement::Cause;
use syscost_results::{Measurement, RoundSamples, Run};

use crate::column::{Table, Values};
use crate::fitting;

/// The columns under construction.
#[derive(Default)]
struct Samples {
    run: Vec<Option<ByteArray>>,
    name: Vec<Option<ByteArray>>,
    id: Vec<Option<ByteArray>>,
    parameters: Vec<Option<ByteArray>>,
    unit: Vec<Option<ByteArray>>,
    round: Vec<Option<i32>>,
    sample: Vec<Option<i32>>,
    value: Vec<Option<f64>>,
    counted: Vec<Option<bool>>,
    value_corrected: Vec<Option<f64>>,
    raw: Vec<Option<f64>>,
    cpu: Vec<Option<i32>>,
    iterations: Vec<Option<i64>>,
    disturbed: Vec<Option<ByteArray>>,
    core_ghz: Vec<Option<f64>>,
    steal_percent: Vec<Option<f64>>,
    sample_ghz: Vec<Option<f64>>,
    usual_ghz: Vec<Option<f64>>,
    alone_percent: Vec<Option<f64>>,
    ratio: Vec<Option<f64>>,
    own_limit: Vec<Option<f64>>,
}

/// What all samples of a row share; cloning these texts copies no bytes.
struct Shared {
    run: ByteArray,
    name: ByteArray,
    id: ByteArray,
    parameters: ByteArray,
    unit: ByteArray,
}

/// The columns without any samples.
pub(super) fn no_run() -> Table {
    Samples::default().into()
}

/// The samples of a run. A withheld row has none: a number that must not be believed must not
/// reappear by pooling samples.
pub(super) fn table(run: &Run) -> Result<Table, ExportError> {
    let mut samples = Samples::default();
    for row in &run.measurements {
        let shared = Shared::new(run, row);
        let selected = Selection::of_row(row);
        for round in row.shown().rounds {
            samples.add(&run.id, &shared, round, &selected)?;
        }
    }
    Ok(samples.into())
}

impl Shared {
    fn new(run: &Run, row: &Measurement) -> Self {
        Shared {
            run: run.id.as_str().into(),
            name: row.name.as_str().into(),
            id: row.id.as_str().into(),
            parameters: parameters(&row.case).into_bytes().into(),
            unit: row.unit.symbol().into(),
        }
    }
}

impl Samples {
    fn add(
        &mut self,
        run: &str,
        row: &Shared,
        round: &RoundSamples,
        selected: &Selection<'_>,
    ) -> Result<(), ExportError> {
        let number = fitting(run, "round", round.round.into())?;
        let cpu = fitting(run, "cpu", round.cpu.into())?;
        let iterations = fitting(run, "iterations", round.iterations)?;
        let counted: BTreeMap<usize, f64> = selected.counted(round).into_iter().collect();
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
        for (index, value) in round.values.iter().enumerate() {
            self.run.push(Some(row.run.clone()));
            self.name.push(Some(row.name.clone()));
            self.id.push(Some(row.id.clone()));
            self.parameters.push(Some(row.parameters.clone()));
            self.unit.push(Some(row.unit.clone()));
            self.round.push(Some(number));
            self.sample
                .push(Some(fitting(run, "sample", index as u64)?));
            self.value.push(Some(*value));
            let corrected = counted.get(&index).copied();
            self.counted.push(Some(corrected.is_some()));
            self.value_corrected.push(corrected);
            // If no overhead was subtracted, the document has no separate raw values.
            self.raw.push(match round.raw.as_slice() {
                [] => Some(*value),
                raw => raw.get(index).copied(),
            });
            self.cpu.push(Some(cpu));
            self.iterations.push(Some(iterations));
            self.disturbed.push(
                causes
                    .get(&index)
                    .map(|causes| causes.join(" ").into_bytes().into()),
            );
            self.core_ghz.push(round.core_ghz);
            self.steal_percent.push(round.steal_percent);
            // The document has a zero if the frequency at a sample is unknown.
            let ghz = round.sample_ghz.get(index).copied();
            self.sample_ghz.push(ghz.filter(|ghz| *ghz > 0.0));
            self.usual_ghz.push(round.usual_ghz);
            self.alone_percent.push(round.alone_percent);
            let ratio = round.ratios.get(index);
            self.ratio.push(ratio.map(|ratio| f64::from(*ratio) / 1e3));
            self.own_limit.push(round.own_limit);
        }
        Ok(())
    }
}

impl From<Samples> for Table {
    fn from(samples: Samples) -> Self {
        vec![
            ("run", Values::Text(samples.run)),
            ("name", Values::Text(samples.name)),
            ("id", Values::Text(samples.id)),
            ("parameters", Values::Text(samples.parameters)),
            ("unit", Values::Text(samples.unit)),
            ("round", Values::Int(samples.round)),
            ("sample", Values::Int(samples.sample)),
            ("value", Values::Double(samples.value)),
            ("counted", Values::Bool(samples.counted)),
            ("value_corrected", Values::Double(samples.value_corrected)),
            ("raw", Values::Double(samples.raw)),
            ("cpu", Values::Int(samples.cpu)),
            ("iterations", Values::Long(samples.iterations)),
            ("disturbed", Values::Text(samples.disturbed)),
            ("core_ghz", Values::Double(samples.core_ghz)),
            ("steal_percent", Values::Double(samples.steal_percent)),
            ("sample_ghz", Values::Double(samples.sample_ghz)),
            ("usual_ghz", Values::Double(samples.usual_ghz)),
            ("alone_percent", Values::Double(samples.alone_percent)),
            ("ratio", Values::Double(samples.ratio)),
            ("own_limit", Values::Double(samples.own_limit)),
        ]
    }
}
