//! Files that the program writes, and journals of interrupted runs.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use syscost_harness::session::journal;
use syscost_store::{Store, folder_of, write_atomically};

use crate::Failed;

/// Journals of interrupted runs, newest first.
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

/// Writes a file atomically; `-` is standard output.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if path == Path::new("-") {
        std::io::stdout().lock().write_all(bytes)?;
        return Ok(());
    }
    write_atomically(path, bytes).with_context(|| format!("writing {}", path.display()))
}

/// Refuses a file name whose extension means another format.
///
/// # Errors
/// [`Failed::Usage`] when the name has an extension other than these.
pub(crate) fn check_ending(path: &Path, endings: &[&str], what: &str) -> Result<(), Failed> {
    let ending = path.extension().map(|ending| ending.to_string_lossy());
    match ending {
        Some(ending) if !endings.contains(&&*ending) => Err(Failed::Usage(format!(
            "{what} is written as .{}, and {} ends in .{ending}; give it another name",
            endings[0],
            path.display()
        ))),
        Some(_) | None => Ok(()),
    }
}

/// Checks that a file can be written, before anything is measured for it.
///
/// # Errors
/// [`Failed::Usage`] when its folder does not exist or cannot be written to.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failed> {
    // A device is written in place; a file is replaced by a new one made beside it.
    let is_device = path.exists() && !path.is_file() && !path.is_dir();
    if path == Path::new("-") || is_device {
        return Ok(());
    }
    let folder = folder_of(path);
    let why = if path.is_dir() {
        "it is a folder; name a file in it".to_owned()
    } else if !folder.is_dir() {
        format!("there is no folder {}; make it first", folder.display())
    } else {
        match tempfile::tempfile_in(folder) {
            Ok(_) => return Ok(()),
            Err(cause) => format!("{cause}; give another folder"),
        }
    };
    let path = path.display();
    Err(Failed::Usage(format!("{path} cannot be written: {why}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_folder_is_reported_beforehand() {
        let error = check_writable(Path::new("/no/such/folder/run.json")).expect_err("refused");
        assert!(
            error
                .to_string()
                .contains("there is no folder /no/such/folder")
        );
        for fine in ["run.json", "-", "/dev/null"] {
            assert!(check_writable(Path::new(fine)).is_ok(), "{fine}");
        }
        let error = check_writable(Path::new("/tmp")).expect_err("refused");
        assert!(error.to_string().contains("it is a folder"), "{error}");
        // Not even root can write there.
        let error = check_writable(Path::new("/proc/run.json")).expect_err("refused");
        assert!(error.to_string().contains("give another folder"), "{error}");
    }
}
