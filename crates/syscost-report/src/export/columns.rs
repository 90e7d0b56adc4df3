//! The columns of a [`Record`] in a flat table, the same in CSV and in the Parquet table `measurements`.
//!
//! Names that SQL reserves (`case`, `group`) are avoided, so that no query needs quotes.

use serde::Serialize;

use super::record::{Record, parameters};
use Value::{Count, Double, Text, Time};

/// How to get a column's value from a record, by the column's type.
pub enum Value {
    /// Text; `None` if unknown.
    Text(fn(&Record) -> Option<String>),
    /// An RFC 3339 time.
    Time(fn(&Record) -> String),
    /// A floating-point number; `None` if there is none.
    Double(fn(&Record) -> Option<f64>),
    /// A count.
    Count(fn(&Record) -> u64),
}

/// The columns in order. New ones are appended.
pub const COLUMNS: &[(&str, Value)] = &[
    ("run", Text(|record| Some(record.run.clone()))),
    ("started", Time(|record| record.started.clone())),
    ("hostname", Text(|record| Some(record.hostname.clone()))),
    ("cpu_model", Text(|record| Some(record.cpu_model.clone()))),
    ("kernel", Text(|record| Some(record.kernel.clone()))),
    ("hypervisor", Text(|record| record.hypervisor.clone())),
    ("version", Text(|record| Some(record.version.clone()))),
    ("profile", Text(|record| Some(record.profile.clone()))),
    ("name", Text(|record| Some(record.name.clone()))),
    ("id", Text(|record| Some(record.id.clone()))),
    ("group_name", Text(|record| Some(record.group.clone()))),
    ("operation", Text(|record| Some(record.operation.clone()))),
    ("parameters", Text(|record| Some(parameters(&record.case)))),
    ("revision", Count(|record| record.revision.into())),
    ("unit", Text(|record| Some(word(&record.unit)))),
    ("better", Text(|record| Some(word(&record.better)))),
    ("status", Text(|record| Some(word(&record.status)))),
    ("reason", Text(|record| record.reason.clone())),
    ("median", Double(|record| record.estimate.median)),
    ("ci95_low", Double(|record| record.estimate.ci95_low)),
    ("ci95_high", Double(|record| record.estimate.ci95_high)),
    ("min", Double(|record| record.estimate.min)),
    ("best", Double(|record| record.estimate.best)),
    ("mad", Double(|record| record.estimate.mad)),
    ("p99", Double(|record| record.estimate.p99)),
    ("raw_median", Double(|record| record.estimate.raw_median)),
    ("coverage", Double(|record| record.estimate.coverage)),
    ("rounds", Count(|record| record.estimate.rounds.into())),
    ("samples", Count(|record| record.estimate.samples)),
    ("core_cycles", Double(|record| record.core_cycles)),
    ("evidence", Text(|record| Some(word(&record.mark())))),
    ("flags", Text(|record| Some(flags(record)))),
    (
        "undisturbed_percent",
        Double(|record| record.estimate.undisturbed_percent),
    ),
    (
        "shared_median",
        Double(|record| record.estimate.shared_median),
    ),
    (
        "shared_ci95_low",
        Double(|record| record.estimate.shared_ci95_low),
    ),
    (
        "shared_ci95_high",
        Double(|record| record.estimate.shared_ci95_high),
    ),
    (
        "sharing_limit",
        Double(|record| record.sharing.map(|sharing| sharing.limit)),
    ),
    (
        "sharing_basis",
        Text(|record| record.sharing.map(|sharing| word(&sharing.basis))),
    ),
];

/// The flags' names, separated by spaces.
pub(super) fn flags(record: &Record) -> String {
    let flags: Vec<String> = record.flags.iter().map(word).collect();
    flags.join(" ")
}

/// The word for a value in the run document, e.g. `below_resolution`.
pub fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        // Every enum of the document serializes to a string.
        other => unreachable!("{other:?} is no word"),
    }
}
