//! Runs as tables in Parquet, for DuckDB, Spark, ClickHouse and pandas: `runs`, `measurements` and `samples`, which share the columns `run`
//! and `name`.

mod column;
mod runs;
mod samples;
#[cfg(test)]
mod tests;

use std::io::Write;

use column::{Columns, Table, TableWriter};
use parquet::errors::ParquetError;
use serde::Serialize;
use syscost_report::export::{COLUMNS, ExportError, Record, Value};
use syscost_results::Run;

/// The names of the tables, in the order of all that has three of them.
pub const TABLES: [&str; 3] = ["runs", "measurements", "samples"];

/// Why tables could not be written.
#[derive(Debug, thiserror::Error)]
pub enum TablesError {
    /// A run that no table can hold; the tables are as they were before.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The writer failed: the disk is full, or it has a defect.
    #[error("the tables cannot be written ({0})")]
    Parquet(#[from] ParquetError),
}

/// Three tables being written, run after run.
pub struct Tables<W: Write + Send>([TableWriter<W>; 3]);

impl<W: Write + Send> Tables<W> {
    /// Begins tables without a run.
    ///
    /// # Errors
    /// [`TablesError::Parquet`] if nothing can be written.
    pub fn new(to: [W; 3]) -> Result<Self, TablesError> {
        let [runs, measurements, samples] = to;
        Ok(Self([
            TableWriter::new(runs, runs::table(&[])?)?,
            TableWriter::new(measurements, of_rows(&[])?)?,
            TableWriter::new(samples, samples::no_run()?)?,
        ]))
    }

    /// Adds a run.
    ///
    /// # Errors
    /// [`TablesError::Export`] if its start is not a valid time, or a number does not fit its column.
    pub fn add(&mut self, run: &Run) -> Result<(), TablesError> {
        let parts = [runs::table(&[run])?, of_rows(&[run])?, samples::table(run)?];
        for (table, part) in self.0.iter_mut().zip(parts) {
            table.add(part)?;
        }
        Ok(())
    }

    /// Ends them, and gives back what they were written to.
    ///
    /// # Errors
    /// [`TablesError::Parquet`] if the rest cannot be written.
    pub fn finish(self) -> Result<[W; 3], TablesError> {
        let [runs, measurements, samples] = self.0;
        Ok([runs.finish()?, measurements.finish()?, samples.finish()?])
    }
}

/// One line per row of these runs, with the columns of the CSV export.
fn of_rows(runs: &[&Run]) -> Result<Table, ExportError> {
    let records: Vec<Record> = Record::all(runs).collect();
    let mut columns = Columns::of(&records, |record| &record.run);
    for (name, value) in COLUMNS {
        columns = match value {
            Value::Text(text) => columns.text(name, text),
            Value::Time(time) => columns.time(name, time),
            Value::Double(number) => columns.double(name, number),
            Value::Count(count) => columns.long(name, |record| Some(count(record))),
        };
    }
    columns.table()
}

/// A value as JSON text.
fn json(value: &impl Serialize) -> Option<String> {
    serde_json::to_string(value).ok()
}
