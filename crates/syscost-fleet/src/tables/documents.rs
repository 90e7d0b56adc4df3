//! Documents out of tables.

use std::path::Path;

use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::errors::ParquetError;

use super::column::{Group, TableReader};
use super::{TablesError, files_of};

/// Which documents are wanted.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Only those of the machine of this name.
    pub hostname: Option<String>,
    /// Only those of runs that began on this day, `YYYY-MM-DD`, UTC.
    pub date: Option<String>,
}

/// Gives each document that is wanted, packed with gzip, after a name for its file.
///
/// # Errors
/// [`TablesError`] if there are no tables, or one of them cannot be read; and what `give` fails with.
pub fn documents<E: From<TablesError>>(
    tables: &Path,
    wanted: &Wanted,
    mut give: impl FnMut(String, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    if files_of(tables, "documents", None)?.is_empty() {
        return Err(TablesError::NoTables(tables.to_owned()).into());
    }
    for path in files_of(tables, "documents", wanted.date.as_deref())? {
        let unreadable = TablesError::table(&path);
        let file = TableReader::open(&path).map_err(&unreadable)?;
        for group in file.groups() {
            let found = group.and_then(|group| of_group(&group, wanted.hostname.as_deref()));
            for (run, document) in found.map_err(&unreadable)? {
                give(file_name(&run), document.data())?;
            }
        }
    }
    Ok(())
}

/// The documents of a row group with the ids of their runs; of a group of other machines nothing is read but their names.
fn of_group(
    group: &Group<'_>,
    hostname: Option<&str>,
) -> Result<Vec<(String, ByteArray)>, ParquetError> {
    let is_meant = |of: &Option<ByteArray>| {
        let is_it = |wanted: &str| of.as_ref().is_some_and(|of| of.data() == wanted.as_bytes());
        hostname.is_none_or(is_it)
    };
    let hosts = group.column::<ByteArrayType>("hostname")?;
    if !hosts.iter().any(is_meant) {
        return Ok(Vec::new());
    }
    let runs = group.column::<ByteArrayType>("run")?;
    let documents = group.column::<ByteArrayType>("document")?;
    let all = hosts.into_iter().zip(runs.into_iter().zip(documents));
    let meant = all.filter(|(host, _)| is_meant(host));
    let whole = meant.filter_map(|(_, (run, document))| {
        Some((String::from_utf8_lossy(run?.data()).into_owned(), document?))
    });
    Ok(whole.collect())
}

/// A name for the file of a run's document: an id may be any text, and a file stays in its directory.
fn file_name(run: &str) -> String {
    let plain = |letter: char| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => letter,
        _ => '_',
    };
    let name: String = run.chars().take(100).map(plain).collect();
    format!("{}.json.gz", name.trim_start_matches('.'))
}
