//! `syscost clean`: removes what killed runs left behind.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use syscost_harness::directory;
use syscost_harness::session::journal::Journal;
use syscost_store::Store;
use syscost_sys::scratch::{Leftover, leftovers};

use crate::Failed;
use crate::cli::CleanArguments;
use crate::error::exit;
use crate::files;

/// Runs the command.
pub(crate) fn run(arguments: &CleanArguments) -> Result<u8> {
    if let Some(path) = arguments.paths.iter().find(|path| !path.is_dir()) {
        let path = path.display();
        return Err(Failed::Usage(format!("{path} is not a directory")).into());
    }
    let default = directory::default().path;
    let mut folders = arguments.paths.clone();
    let store = Store::of_user();
    folders.extend(of_journals(&store));
    folders.push(default.clone());
    // A folder with two names would be searched twice.
    let mut folders: Vec<PathBuf> = folders
        .into_iter()
        .filter_map(|folder| fs::canonicalize(folder).ok())
        .collect();
    folders.sort();
    folders.dedup();
    let mut found = leftovers(&folders, !arguments.dry_run);
    let half_written = store.abandoned().into_iter();
    found.extend(half_written.map(|path| half_written_one(&path, arguments.dry_run)));
    if !arguments.dry_run {
        // The next run that needs it creates it again. It stays if it is not empty.
        let _ = fs::remove_dir(default);
    }
    let is_failed = found.iter().any(|left| left.trouble.is_some());
    super::print(&text(&found, arguments.dry_run))?;
    Ok(if is_failed { exit::FAILURE } else { exit::DONE })
}

/// A file that was left half written, removed unless nothing is to be.
fn half_written_one(path: &Path, is_dry: bool) -> Leftover {
    let trouble = match is_dry {
        true => None,
        false => fs::remove_file(path).err(),
    };
    Leftover {
        what: format!("file {}", path.display()),
        trouble: trouble.map(|cause| cause.to_string()),
    }
}

/// The directories of interrupted runs.
fn of_journals(store: &Store) -> Vec<PathBuf> {
    let journals = files::unfinished(store).into_iter();
    let headers = journals.filter_map(|path| Journal::open(&path).ok());
    headers
        .flat_map(|(_journal, header, _records)| header.directories)
        .map(|directory| PathBuf::from(directory.path))
        .collect()
}

fn text(found: &[Leftover], dry_run: bool) -> String {
    if found.is_empty() {
        return "nothing was left behind\n".to_owned();
    }
    let line = |left: &Leftover| match (&left.trouble, dry_run) {
        (Some(reason), _) => format!("cannot remove {}: {reason}\n", left.what),
        (None, true) => format!("would remove {}\n", left.what),
        (None, false) => format!("removed {}\n", left.what),
    };
    found.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_found_is_listed_with_what_became_of_it() {
        let left = |trouble: Option<&str>| Leftover {
            what: "tree /mnt/syscost-1-a".to_owned(),
            trouble: trouble.map(str::to_owned),
        };
        assert_eq!(text(&[], false), "nothing was left behind\n");
        let listed = |trouble, dry_run| text(&[left(trouble)], dry_run);
        assert_eq!(listed(None, true), "would remove tree /mnt/syscost-1-a\n");
        assert_eq!(listed(None, false), "removed tree /mnt/syscost-1-a\n");
        assert_eq!(
            listed(Some("Read-only file system"), false),
            "cannot remove tree /mnt/syscost-1-a: Read-only file system\n"
        );
    }
}
