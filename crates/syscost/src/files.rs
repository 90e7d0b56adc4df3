//! Files the program writes, and journals it left.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use syscost_harness::session::journal;
use syscost_store::{Store, folder_of, write_atomically};

use crate::Failed;

/// Journals of runs that broke off, newest first.
pub(crate) fn unfinished(store: &Store) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(store.journals()) else {
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension().is_some_and(|ext| ext == "journal") && !journal::is_busy(path)
        })
        .collect();
    found.sort();
    found.reverse();
    found
}

/// Writes a file whole or not at all; `-` is standard output.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if path == Path::new("-") {
        std::io::stdout().lock().write_all(bytes)?;
        return Ok(());
    }
    write_atomically(path, bytes).with_context(|| format!("writing {}", path.display()))
}

/// Refuses a file that cannot be written before anything is measured for it.
///
/// # Errors
/// [`Failed::Usage`] when there is no such folder.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failed> {
    let folder = folder_of(path);
    if folder.is_dir() {
        return Ok(());
    }
    Err(Failed::Usage(format!(
        "{} cannot be written: there is no folder {}; make it first",
        path.display(),
        folder.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_folder_is_told_beforehand() {
        let error = check_writable(Path::new("/no/such/folder/run.json")).expect_err("refused");
        assert!(
            error
                .to_string()
                .contains("there is no folder /no/such/folder")
        );
        assert!(check_writable(Path::new("run.json")).is_ok());
    }
}
