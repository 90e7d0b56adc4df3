//! Where runs are kept: `$XDG_DATA_HOME/syscost`, by default `~/.local/share/syscost`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use etcetera::{BaseStrategy, choose_base_strategy};
use syscost_harness::session::journal;
use tempfile::NamedTempFile;

use crate::Failed;

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

/// Writes a file whole or not at all. What is no regular file (a device, a pipe) is written to, never replaced.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let write = || -> std::io::Result<()> {
        if fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
            return fs::OpenOptions::new()
                .write(true)
                .open(&target)?
                .write_all(bytes);
        }
        let mut file = NamedTempFile::new_in(folder_of(&target))?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(&target)?;
        Ok(())
    };
    write().with_context(|| format!("writing {}", path.display()))
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

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_a_link_followed_and_a_device_left_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("run.json");
        let link = folder.path().join("link.json");
        fs::write(&file, "old").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("linked");
        write_atomically(&link, b"new").expect("written through the link");
        assert_eq!(fs::read_to_string(&file).expect("read"), "new");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        write_atomically(Path::new("/dev/null"), b"new").expect("written to the device");
        assert!(!fs::metadata("/dev/null").expect("there").is_file());
    }

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
