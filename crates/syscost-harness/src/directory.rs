//! The directories of file-system measurements: those of `syscost run --dir`, or one in the user's
//! cache folder.
//!
//! The coordinator checks them once, before anything is measured; workers find them in their environment.

mod facts;

use std::path::PathBuf;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::failure::Failure;

pub use facts::facts_of;
pub(crate) use facts::of_rows;
pub use syscost_results::directory::KEY;

/// The environment variable that holds the directories, as JSON.
pub const VARIABLE: &str = "SYSCOST_DIRECTORIES";

/// The label of the default directory.
pub const DEFAULT: &str = "default";

/// The label that rows of `fs.remote` use for the server of `--nfs`.
pub const NFS: &str = "nfs";

/// The label that they use where nothing remote was named.
pub const NOTHING_REMOTE: &str = "remote";

/// A directory in which file systems are measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directory {
    /// What rows call it: `fs.read{dir=LABEL,…}`.
    pub label: String,
    /// Its absolute path, without links unless it is the default directory. Benchmarks write only into
    /// folders that they create in it.
    pub path: PathBuf,
}

/// The coordinator's own directories: its environment is the user's shell's, not a worker's.
static OWN: OnceLock<Vec<Directory>> = OnceLock::new();

/// Gives this process its directories; later calls have no effect. The coordinator lists rows by them.
pub fn give(directories: Vec<Directory>) {
    OWN.get_or_init(|| directories);
}

/// The directories of this process, in the order in which they were named.
pub fn given() -> Vec<Directory> {
    if let Some(own) = OWN.get() {
        return own.clone();
    }
    let set = std::env::var(VARIABLE).ok();
    set.and_then(|text| parse(&text))
        .unwrap_or_else(|| vec![default()])
}

/// Parses the value of [`VARIABLE`]; `None` if `syscost run` would not set it.
pub fn parse(text: &str) -> Option<Vec<Directory>> {
    let directories: Vec<Directory> = serde_json::from_str(text).ok()?;
    let are_usable = !directories.is_empty()
        && directories
            .iter()
            .all(|directory| is_label(&directory.label) && directory.path.is_absolute());
    are_usable.then_some(directories)
}

/// The value of [`VARIABLE`] for these directories.
pub fn to_variable(directories: &[Directory]) -> String {
    serde_json::to_string(directories).expect("strings and paths in UTF-8 are JSON")
}

/// Whether this may be the label of a directory: it contains no character that has a meaning in a row's name.
pub fn is_label(text: &str) -> bool {
    /// Maximum length of a label, in bytes, so that names of rows stay readable.
    const MAX_BYTES: usize = 200;
    let is_plain = |letter: char| {
        !letter.is_control() && !letter.is_whitespace() && !"{},=*?[]'\"".contains(letter)
    };
    (1..=MAX_BYTES).contains(&text.len()) && text.chars().all(is_plain)
}

/// Whether a label has another meaning in rows than a directory.
pub fn is_reserved(label: &str) -> bool {
    [NFS, NOTHING_REMOTE].contains(&label)
}

/// The default directory: `$XDG_CACHE_HOME/syscost`, else `~/.cache/syscost`, else one in the
/// folder for temporary files. It may not exist yet.
pub fn default() -> Directory {
    let absolute = |variable| {
        let path = std::env::var_os(variable).map(PathBuf::from)?;
        path.is_absolute().then_some(path)
    };
    let cache = absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .unwrap_or_else(std::env::temp_dir);
    Directory {
        label: DEFAULT.to_owned(),
        path: cache.join("syscost"),
    }
}

impl Directory {
    /// The directory of a case.
    ///
    /// # Errors
    /// When this process was given no directory of that label.
    pub fn of(case: &Case) -> Result<Self, Failure> {
        let label = case.get(KEY);
        given()
            .into_iter()
            .find(|directory| directory.label == label)
            .ok_or_else(|| {
                Failure::Unsupported(format!(
                    "no directory {label:?} was given: `--dir {label}=PATH`"
                ))
            })
    }

    /// Its path without links, after creating it if it is the default directory and does not exist yet.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn made(&self) -> Result<PathBuf, Failure> {
        if self.label != DEFAULT {
            return Ok(self.path.clone());
        }
        let made =
            std::fs::create_dir_all(&self.path).and_then(|()| std::fs::canonicalize(&self.path));
        made.map_err(|cause| Failure::of(&format!("make {}", self.path.display()), cause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_read_as_they_are_written() {
        let directories = vec![
            Directory {
                label: "fast".into(),
                path: "/mnt/a b".into(),
            },
            Directory {
                label: "/mnt/slow".into(),
                path: "/mnt/slow".into(),
            },
        ];
        assert_eq!(parse(&to_variable(&directories)), Some(directories));
        for none in [
            "",
            "[]",
            "{}",
            r#"[{"label":"a,b","path":"/x"}]"#,
            r#"[{"label":"a","path":"x"}]"#,
        ] {
            assert_eq!(parse(none), None, "{none}");
        }
    }

    #[test]
    fn what_means_something_in_a_rows_name_is_no_label() {
        assert!(is_label("default") && is_label("/mnt/nvme-0"));
        for none in ["", "a b", "a=b", "{a", "a,b", "a*", "a\n"] {
            assert!(!is_label(none), "{none:?}");
        }
    }

    #[test]
    fn a_case_names_its_directory() {
        let case = Case::new([(KEY, DEFAULT)]);
        assert_eq!(Directory::of(&case).unwrap().label, DEFAULT);
        let reason = Directory::of(&Case::new([(KEY, "other")])).unwrap_err();
        assert!(reason.to_string().contains("--dir other=PATH"), "{reason}");
    }
}
