//! Files that the program writes, and journals of interrupted runs.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use syscost_harness::session::journal;
use syscost_store::{Store, folder_of, packed, write_atomically};

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

/// Writes a run's document as [`write`] does; packed, if the name ends in `.gz`.
pub(crate) fn write_document(path: &Path, text: &[u8]) -> Result<()> {
    match path.extension().is_some_and(|ending| ending == "gz") {
        true => write(path, &packed(text)),
        false => write(path, text),
    }
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
        match tempfile::tempfile_in(folder).map(|_| is_fixed(path)) {
            Ok(false) => return Ok(()),
            Ok(true) => "it is there and may not be changed (chattr); give another name".to_owned(),
            Err(cause) => format!("{cause}; give another folder"),
        }
    };
    let path = path.display();
    Err(Failed::Usage(format!("{path} cannot be written: {why}")))
}

/// Whether there is a file that nobody may replace: one that is immutable, or may only grow. That a
/// file's mode forbids writing does not matter.
fn is_fixed(path: &Path) -> bool {
    let fixed = Some(rustix::io::Errno::PERM.raw_os_error());
    let opened = fs::OpenOptions::new().write(true).open(path);
    opened.is_err_and(|cause| cause.raw_os_error() == fixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::print_stdout, reason = "a test says why it skips")]
    fn a_file_that_may_not_be_replaced_is_reported_beforehand() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("run.json");
        std::fs::write(&path, "theirs").expect("written");
        let mut options = std::fs::metadata(&path).expect("there").permissions();
        options.set_readonly(true);
        std::fs::set_permissions(&path, options).expect("ours");
        assert!(check_writable(&path).is_ok(), "its folder decides");
        let fix = |flag: &str| {
            let chattr = std::process::Command::new("chattr")
                .arg(flag)
                .arg(&path)
                .output();
            chattr.is_ok_and(|output| output.status.success())
        };
        if !fix("+i") {
            return println!("skipped: no file can be made immutable here");
        }
        let checked = check_writable(&path);
        assert!(fix("-i"));
        let error = checked.expect_err("it is immutable").to_string();
        assert!(error.contains("may not be changed"), "{error}");
    }

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
