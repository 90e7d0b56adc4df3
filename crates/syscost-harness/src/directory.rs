//! The directories of file-system measurements: those of `syscost run --dir`, or one in the user's
//! cache folder. The coordinator checks them once, before anything is measured; and the storage under
//! each, for the document.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
pub use syscost_results::directory::KEY;
use syscost_results::directory::{self as results, DirectIo, NfsMount};
use syscost_sys::files::{self, Filesystem};
use syscost_sys::{SystemError, scratch};

use crate::failure::Failure;

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
    pub fn made(&self) -> Result<PathBuf, Failure> {
        if self.label != DEFAULT {
            return Ok(self.path.clone());
        }
        let made =
            std::fs::create_dir_all(&self.path).and_then(|()| std::fs::canonicalize(&self.path));
        made.map_err(|cause| {
            let making = format!("make {}", self.path.display());
            match scratch::is_nowhere(cause.kind()) {
                true => Failure::Unsupported(format!(
                    "{making}: {cause}; name another directory: --dir PATH"
                )),
                false => Failure::of(&making, cause),
            }
        })
    }
}

/// Those of these directories whose labels rows use, in this order. One that cannot be used has only its
/// label and its path; its rows say why.
pub(crate) fn described(
    given: &[Directory],
    is_used: impl Fn(&str) -> bool,
) -> Vec<results::Directory> {
    let used = given.iter().filter(|directory| is_used(&directory.label));
    used.map(|directory| facts_of(directory).unwrap_or_else(|_| nameplate(directory)))
        .collect()
}

/// The facts of a directory's storage. Creates a folder in it, which is removed again, after
/// removing those of runs that were killed.
pub fn facts_of(directory: &Directory) -> Result<results::Directory, Failure> {
    let path = directory.made()?;
    scratch::sweep_in(&path);
    let direct = try_file(&path)?;
    let found = files::filesystem(&path)?;
    Ok(results::Directory {
        filesystem: found.kind.clone(),
        source: found.source.clone(),
        mount_point: found.mount_point.display().to_string(),
        in_memory: found.is_in_memory(),
        nfs: nfs(&found),
        options: found.options,
        device: found.device,
        scheduler: found.scheduler,
        rotational: found.rotational,
        layers: found.layers,
        direct,
        total_bytes: Some(found.total_bytes),
        free_bytes: Some(found.free_bytes),
        ..nameplate(directory)
    })
}

fn nameplate(directory: &Directory) -> results::Directory {
    results::Directory {
        label: directory.label.clone(),
        path: directory.path.display().to_string(),
        ..results::Directory::default()
    }
}

/// Creates a file, and returns what direct I/O requires for it; `None` where it is not supported or
/// the kernel does not say.
fn try_file(folder: &Path) -> Result<Option<DirectIo>, SystemError> {
    let tree = scratch::tree_in(folder)?;
    let file = tree.folder().create("file")?;
    let alignment = files::direct_alignment(&file).unwrap_or_default();
    Ok(alignment.map(|alignment| DirectIo {
        memory_bytes: alignment.memory as u32,
        offset_bytes: alignment.offset as u32,
    }))
}

/// The server and the version of a mount over NFS, according to its options.
fn nfs(found: &Filesystem) -> Option<NfsMount> {
    if !found.is_nfs() {
        return None;
    }
    let option = |key: &str| {
        let mut options = found
            .options
            .split(',')
            .filter_map(|one| one.split_once('='));
        let value = options.find(|(known, _)| *known == key);
        value.map_or_else(String::new, |(_, value)| value.to_owned())
    };
    Some(NfsMount {
        version: option("vers"),
        server: option("addr"),
    })
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

    #[test]
    fn a_folder_is_described_and_left_as_it_was() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let directory = Directory {
            label: "here".to_owned(),
            path: folder.path().to_owned(),
        };
        match facts_of(&directory) {
            Ok(facts) => {
                assert_eq!(facts.label, "here");
                assert!(!facts.filesystem.is_empty() && facts.total_bytes > Some(0));
            }
            Err(reason) => println!("skipped: {reason}"),
        }
        let left = std::fs::read_dir(folder.path()).expect("it can be read");
        assert_eq!(left.count(), 0);
    }

    #[test]
    fn a_mount_over_nfs_names_its_server_and_version() {
        let mount = |kind: &str| Filesystem {
            kind: kind.to_owned(),
            options: "rw,vers=4.2,rsize=1048576,addr=10.0.0.7".to_owned(),
            ..Filesystem::default()
        };
        let nfs = nfs(&mount("nfs4")).expect("it is one");
        assert_eq!((&*nfs.version, &*nfs.server), ("4.2", "10.0.0.7"));
        assert_eq!(super::nfs(&mount("ext4")), None);
    }
}
