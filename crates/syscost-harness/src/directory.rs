//! The directories of file-system measurements: those of `syscost run --dir`, or one in the user's
//! cache folder. The coordinator checks them once, before anything is measured.

mod facts;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;

pub use facts::facts_of;
pub(crate) use facts::of_rows;
pub use syscost_results::directory::KEY;

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
    /// Whether it is what `syscost run --dir` may name.
    pub(crate) fn is_usable(&self) -> bool {
        is_label(&self.label) && self.path.is_absolute()
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
    fn what_means_something_in_a_rows_name_is_no_label() {
        assert!(is_label("default") && is_label("/mnt/nvme-0"));
        for none in ["", "a b", "a=b", "{a", "a,b", "a*", "a\n"] {
            assert!(!is_label(none), "{none:?}");
        }
    }
}
