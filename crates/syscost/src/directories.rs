//! The directories of a run's file-system measurements: checked before anything is measured.

use syscost_harness::directory::Directory;
use syscost_sys::{SystemError, scratch};

use crate::Failed;

/// Checks the directories that were named.
///
/// # Errors
/// [`Failed::Usage`] when two have the same label, or one cannot be written to or has too little
/// space.
pub(crate) fn check(named: &[Directory]) -> Result<(), Failed> {
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
    Ok(())
}

/// Checks that the directory can be written to, and that the reserved space is free.
fn try_out(directory: &Directory) -> Result<(), SystemError> {
    scratch::tree_in(&directory.path)?.room_for(0)
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
        let error = check(&[one.clone(), one]).expect_err("one label");
        assert!(error.to_string().contains("called ssd"), "{error}");
        let error = check(&[directory("kernel", Path::new("/proc"))]).expect_err("no disk");
        assert!(error.to_string().contains("kernel cannot be"), "{error}");
        let left = std::fs::read_dir(folder.path()).expect("it can be read");
        assert_eq!(left.count(), 0);
    }
}
