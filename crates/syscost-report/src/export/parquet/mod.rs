//! Parquet: the tables `runs`, `measurements` and `samples`, for DuckDB, Spark, ClickHouse, pandas.
//!
//! No unsigned types, as some readers lack them; times are in microseconds, UTC; every column is
//! nullable.

mod runs;
mod samples;
mod writer;

use std::iter;

use syscost_results::Run;

use self::writer::{Table, Values};
use super::columns::{COLUMNS, Value};
use super::{ExportError, Record, started_us};

/// The tables, each as the contents of a Parquet file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParquetFiles {
    /// One line per run: when, on what machine, with what clock.
    pub runs: Vec<u8>,
    /// One line per row of each run, with the columns of the CSV export.
    pub measurements: Vec<u8>,
    /// One line per sample.
    pub samples: Vec<u8>,
}

/// The runs as three tables that share the columns `run` and `name`.
///
/// # Errors
/// [`ExportError::Started`] if a run's start is not a valid time, [`ExportError::TooLarge`] if a
/// number does not fit its column, [`ExportError::Writer`] if the writer fails.
pub fn to_parquet(runs: &[&Run]) -> Result<ParquetFiles, ExportError> {
    Ok(ParquetFiles {
        runs: writer::file("runs", iter::once(runs::table(runs)))?,
        measurements: writer::file("measurements", iter::once(measurements(runs)))?,
        // There are many samples, so each run is converted to columns separately. The first table
        // defines the types.
        samples: writer::file(
            "samples",
            iter::once(Ok(samples::no_run())).chain(runs.iter().map(|run| samples::table(run))),
        )?,
    })
}

fn measurements(runs: &[&Run]) -> Result<Table, ExportError> {
    let records: Vec<Record> = Record::all(runs).collect();
    let all = || records.iter();
    COLUMNS
        .iter()
        .map(|(name, value)| {
            let values = match value {
                Value::Text(text) => Values::text(all().map(text)),
                Value::Time(time) => Values::Time(collect(
                    all().map(|record| started_us(&record.run, &time(record))),
                )?),
                Value::Double(number) => Values::Double(all().map(number).collect()),
                Value::Count(count) => Values::Long(collect(
                    all().map(|record| fitting(&record.run, name, count(record))),
                )?),
            };
            Ok((*name, values))
        })
        .collect()
}

/// All values, or the first error.
fn collect<T>(
    values: impl Iterator<Item = Result<T, ExportError>>,
) -> Result<Vec<Option<T>>, ExportError> {
    values.map(|value| value.map(Some)).collect()
}

/// A number converted to a column's signed type.
fn fitting<T: TryFrom<u64>>(run: &str, column: &'static str, value: u64) -> Result<T, ExportError> {
    T::try_from(value).map_err(|_| ExportError::TooLarge {
        run: run.to_owned(),
        column,
        value,
    })
}
