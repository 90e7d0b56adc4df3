//! The directories of a run's file-system measurements: checked before anything is measured.

use anyhow::Result;
use syscost_harness::Row;
use syscost_harness::directory::{self, Directory};
use syscost_sys::{SystemError, scratch};

use crate::Failed;

/// Lets this process list the rows of these directories; without any, those of the default one.
///
/// # Errors
/// [`Failed::Usage`] when two have the same label, or one cannot be written to or has too little
/// space.
pub(crate) fn give(named: &[Directory]) -> Result<(), Failed> {
    for (index, one) in named.iter().enumerate() {
        let label = &one.label;
        if named[..index].iter().any(|other| other.label == *label) {
            return Err(Failed::Usage(format!(
                "--dir: two directories are called {label}; give each a label of its own: LABEL=PATH"
            )));
        }
        try_out(one).map_err(|reason| {
            Failed::Usage(format!("--dir: {label} cannot be measured: {reason}"))
        })?;
    }
    if !named.is_empty() {
        directory::give(named.to_vec());
    }
    Ok(())
}

/// Checks that the directory can be written to, and that the reserved space is free.
fn try_out(directory: &Directory) -> Result<(), SystemError> {
    scratch::tree_in(&directory.path)?.room_for(0)
}

/// The environment variable by which workers find the directories of these rows.
pub(crate) fn environment(rows: &[Row]) -> Option<(String, Option<String>)> {
    let has_directory = |row: &Row| row.case.find(directory::KEY).is_some();
    let value = || directory::to_variable(&directory::given());
    let is_needed = rows.iter().any(has_directory);
    is_needed.then(|| (directory::VARIABLE.to_owned(), Some(value())))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn directory(label: &str, path: &Path) -> Directory {
        Directory {
            label: label.to_owned(),
            path: path.to_owned(),
        }
    }

    #[test]
    fn duplicate_labels_and_unwritable_directories_are_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let one = directory("ssd", folder.path());
        let error = give(&[one.clone(), one]).expect_err("one label");
        assert!(error.to_string().contains("called ssd"), "{error}");
        let error = give(&[directory("kernel", Path::new("/proc"))]).expect_err("no disk");
        assert!(error.to_string().contains("kernel cannot be"), "{error}");
        let left = std::fs::read_dir(folder.path()).expect("it can be read");
        assert_eq!(left.count(), 0);
    }
}
