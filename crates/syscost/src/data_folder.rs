//! Where runs are kept: `$XDG_DATA_HOME/syscost`, by default `~/.local/share/syscost`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use etcetera::{BaseStrategy, choose_base_strategy};
use syscost_harness::session::journal;
use tempfile::NamedTempFile;

/// The folder of run documents.
pub(crate) fn runs() -> PathBuf {
    base().join("runs")
}

/// The folder of journals of unfinished runs.
pub(crate) fn journals() -> PathBuf {
    base().join("journals")
}

fn base() -> PathBuf {
    // Without a home there is still a temporary folder.
    choose_base_strategy()
        .map_or_else(|_| std::env::temp_dir(), |dirs| dirs.data_dir())
        .join("syscost")
}

/// Journals of runs that broke off, newest first.
pub(crate) fn unfinished() -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(journals()) else {
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

/// Writes a file whole or not at all.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let write = || -> std::io::Result<()> {
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    write().with_context(|| {
        format!(
            "writing {}: choose another place, or free some space",
            path.display()
        )
    })
}
