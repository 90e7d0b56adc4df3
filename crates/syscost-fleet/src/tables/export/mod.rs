//! Whole runs as the tables `runs`, `measurements` and `samples`: what `syscost export` writes.

mod runs;
mod samples;
#[cfg(test)]
mod tests;

use std::iter;

use syscost_report::export::{COLUMNS, ExportError, Record, Value, started_us};
use syscost_results::Run;

use super::column::{Table, TableWriter, Values};
use super::{TablesError, fitting};

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
/// [`TablesError::Export`] if a run's start is not a valid time, or a number does not fit its
/// column; [`TablesError::Parquet`] if the writer fails.
pub fn to_parquet(runs: &[&Run]) -> Result<ParquetFiles, TablesError> {
    // There are many samples, so each run is converted to columns separately.
    let samples = runs.iter().map(|run| samples::table(run));
    Ok(ParquetFiles {
        runs: file(iter::once(runs::table(runs)))?,
        measurements: file(iter::once(measurements(runs)))?,
        samples: file(iter::once(Ok(samples::no_run())).chain(samples))?,
    })
}

/// The bytes of a file with a row group for each table that has rows; the first defines the types.
fn file(
    mut tables: impl Iterator<Item = Result<Table, ExportError>>,
) -> Result<Vec<u8>, TablesError> {
    let first = tables.next().unwrap_or_else(|| Ok(Table::new()))?;
    let mut file = TableWriter::new(Vec::new(), &first)?;
    file.add(&first)?;
    for table in tables {
        file.add(&table?)?;
    }
    Ok(file.finish()?)
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
