//! Tables of runs in Parquet, for DuckDB, Spark, ClickHouse, pandas, and for reading ten thousand
//! runs back in seconds.
//!
//! - [`to_parquet`]: whole runs with all samples, as `syscost export` writes them.
//! - [`import`]: documents to a directory of tables, a partition for each day.
//! - [`read`]: the figures of the runs in such a directory.
//! - [`documents`]: the documents themselves, as they were imported.

use std::io;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;
use serde::Serialize;
use syscost_report::export::ExportError;

mod column;
mod documents;
mod export;
mod import;
mod machine;
mod measurements;
mod part;
mod read;
mod runs;
#[cfg(test)]
mod tests;

pub use documents::{Wanted, documents};
pub use export::{ParquetFiles, to_parquet};
pub use import::{Imported, LeftOut, import};
pub use read::{are_tables, read};

/// The tables of a fleet, in the order in which a part appears in them: what has a line in `runs` is
/// whole.
const TABLES: [&str; 3] = ["documents", "measurements", "runs"];

/// A run's id and its machine's name: ids may be copied, as with the clock of an image.
type Key = (String, String);

/// Why tables could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum TablesError {
    /// A run that no table can hold.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The Parquet writer failed unexpectedly.
    #[error("the tables cannot be written ({0}); report this as a defect of syscost")]
    Parquet(#[from] ParquetError),
    /// A file or directory cannot be read or written.
    #[error("{0}: {1}")]
    File(PathBuf, io::Error),
    /// A file that is no table of ours.
    #[error("{0}: {1}; remove it, and import its documents again")]
    Table(PathBuf, ParquetError),
    /// A directory without tables.
    #[error("{0} has no tables of runs; make them: syscost fleet import DIR -o {0}")]
    NoTables(PathBuf),
    /// The rows of a run do not follow each other.
    #[error(
        "{0}: the rows of run {1} are in several places; sort the table by hostname and run, or import the documents again"
    )]
    Scattered(PathBuf, String),
    /// Another import writes into the tables.
    #[error("{0}: another import is writing there; wait for its end")]
    Busy(PathBuf),
}

impl TablesError {
    fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |cause| TablesError::File(path, cause)
    }

    fn table(path: &Path) -> impl Fn(ParquetError) -> Self + use<> {
        let path = path.to_owned();
        move |cause| TablesError::Table(path.clone(), cause)
    }
}

/// The files of a table, in order; with a `date` only those of that day.
fn files_of(tables: &Path, table: &str, date: Option<&str>) -> Result<Vec<PathBuf>, TablesError> {
    let mut files = Vec::new();
    for day in entries(&tables.join(table))? {
        let name = day.file_name().unwrap_or_default().to_string_lossy();
        let is_meant = date.is_none_or(|date| name == format!("date={date}"));
        if name.starts_with("date=") && is_meant {
            let is_table = |path: &PathBuf| {
                let hidden = path.file_name().is_some_and(|name| {
                    let name = name.as_encoded_bytes();
                    name.starts_with(b".") || name.starts_with(b"_")
                });
                !hidden && path.extension().is_some_and(|ending| ending == "parquet")
            };
            files.extend(entries(&day)?.into_iter().filter(is_table));
        }
    }
    Ok(files)
}

/// What is in a directory, sorted; nothing if there is no such directory.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, TablesError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(TablesError::file(folder)(cause)),
    };
    let mut found = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(TablesError::file(folder))?;
    found.sort();
    Ok(found)
}

/// A number converted to a column's signed type.
fn fitting<T: TryFrom<u64>>(run: &str, column: &'static str, value: u64) -> Result<T, ExportError> {
    T::try_from(value).map_err(|_| ExportError::TooLarge {
        run: run.to_owned(),
        column,
        value,
    })
}

/// A value as JSON text.
fn json(value: &impl Serialize) -> Option<String> {
    serde_json::to_string(value).ok()
}
