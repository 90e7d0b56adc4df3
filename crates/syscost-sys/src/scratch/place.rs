//! This user's folder for named objects and their records, in the folder for temporary files.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::{SystemError, Unsupported, os};

/// How often a folder is created again after a sweep of another run has removed it: each such sweep
/// ends a worker, so two in a row are rare.
pub(super) const MAX_TRIES: u32 = 100;

/// Whether there is no place to write here at all, rather than something that went wrong with one.
pub fn is_nowhere(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::PermissionDenied
            | ErrorKind::ReadOnlyFilesystem
    )
}

/// This user's folder, created if necessary.
pub(super) fn folder() -> Result<PathBuf, SystemError> {
    folder_at(folder_path())
}

fn folder_at(path: PathBuf) -> Result<PathBuf, SystemError> {
    let failed = |cause: io::Error| {
        let advice = format!("{cause}; set TMPDIR to a folder of your own");
        let cause = match is_nowhere(cause.kind()) {
            true => Unsupported::new(advice).into(),
            false => io::Error::new(cause.kind(), advice),
        };
        SystemError::new("mkdir", path.display().to_string(), cause)
    };
    let parent = path.parent().unwrap_or(&path);
    match fs::metadata(parent) {
        Ok(facts) if !is_safe(&Parent::of(&facts), &owners()) => {
            let why = "others may rename what is in the folder for temporary files";
            return Err(failed(io::Error::other(why)));
        }
        // What cannot be looked at cannot be written to either.
        Ok(_) | Err(_) => {}
    }
    for _ in 0..MAX_TRIES {
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {}
            Err(cause) => return Err(failed(cause)),
        }
        match fs::symlink_metadata(&path) {
            Ok(facts) if is_own_folder(&facts) => return Ok(path),
            // In a folder that all users may write to, another one may have created it first.
            Ok(_) => {
                let why = "it is another user's; remove it";
                return Err(failed(io::Error::other(why)));
            }
            // A sweep has removed it in between.
            Err(cause) if cause.kind() == ErrorKind::NotFound => {}
            Err(cause) => return Err(failed(cause)),
        }
    }
    Err(failed(io::Error::other("it is removed again and again")))
}

/// Named by the user's id outside its user namespace: root of a container that shares the host's
/// folder for temporary files is not the host's root.
pub(super) fn folder_path() -> PathBuf {
    let own = os::user_id();
    let outside = outside(&uid_map(), own).unwrap_or(own);
    std::env::temp_dir().join(format!("syscost-{outside}"))
}

/// Whether this is a real directory of this user's that no other user may write to.
pub(super) fn is_ours(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|facts| is_own_folder(&facts))
}

/// The bits of a mode by which other users may write.
pub(super) const OTHERS_WRITE: u32 = 0o022;

pub(super) fn is_own_folder(facts: &fs::Metadata) -> bool {
    facts.is_dir() && facts.uid() == os::user_id() && facts.mode() & 0o022 == 0
}

/// The ids of this user namespace and those that they are outside; empty where there is none.
fn uid_map() -> String {
    fs::read_to_string("/proc/self/uid_map").unwrap_or_default()
}

/// The id outside the user namespace of this id within.
fn outside(uid_map: &str, id: u32) -> Option<u32> {
    let range = |line: &str| {
        let mut numbers = line.split_whitespace().map(str::parse::<u32>);
        let mut next = || numbers.next()?.ok();
        let (within, outside, count) = (next()?, next()?, next()?);
        let at = id.checked_sub(within).filter(|at| *at < count)?;
        outside.checked_add(at)
    };
    uid_map.lines().find_map(range)
}

/// The folder that ours is in.
struct Parent {
    owner: u32,
    mode: u32,
}

impl Parent {
    fn of(facts: &fs::Metadata) -> Self {
        Self {
            owner: facts.uid(),
            mode: facts.mode(),
        }
    }
}

/// Owners that do not rename what others make.
struct Owners {
    own: u32,
    /// The id that all have who have none in this user namespace, if there are such.
    nameless: Option<u32>,
}

fn owners() -> Owners {
    /// The kernel's default.
    const OVERFLOW: u32 = 65_534;
    let overflow = fs::read_to_string("/proc/sys/kernel/overflowuid");
    let overflow = overflow.ok().and_then(|text| text.trim().parse().ok());
    let map = uid_map();
    let is_partial = !map.is_empty() && outside(&map, u32::MAX - 1).is_none();
    Owners {
        own: os::user_id(),
        nameless: is_partial.then(|| overflow.unwrap_or(OVERFLOW)),
    }
}

/// Whether nobody but root and this user may rename what this user makes in a folder. The owner of a
/// folder may, and without the sticky bit everybody who may write to it.
fn is_safe(parent: &Parent, owners: &Owners) -> bool {
    /// The sticky bit of a mode.
    const STICKY: u32 = 0o1000;
    let is_own = parent.owner == owners.own;
    let writers = if is_own { 0o002 } else { 0o022 };
    (is_own || parent.owner == 0 || Some(parent.owner) == owners.nameless)
        && (parent.mode & STICKY != 0 || parent.mode & writers == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[ignore = "machine suite"]
    fn runs_that_make_and_remove_one_folder_do_not_harm_each_other() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("shared");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        folder_at(path.clone()).expect("it is nobody else's");
                        let _ = fs::remove_dir(&path);
                    }
                });
            }
        });
    }

    #[test]
    fn what_stands_in_the_folders_place_is_left_alone() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("taken");
        fs::write(&path, "theirs").unwrap();
        let error = folder_at(path.clone()).unwrap_err();
        assert!(error.to_string().contains("another user's"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
    }

    #[test]
    fn a_system_without_a_place_for_temporary_files_does_not_support_what_needs_one() {
        let parent = tempfile::tempdir().unwrap();
        let error = folder_at(parent.path().join("none/ours")).unwrap_err();
        assert!(error.is_unsupported(), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("No such file") && text.contains("set TMPDIR"),
            "{text}"
        );
    }

    #[test]
    fn where_others_may_rename_nothing_is_made() {
        let parent = tempfile::tempdir().unwrap();
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        fs::set_permissions(parent.path(), open).unwrap();
        let path = parent.path().join("ours");
        let error = folder_at(path.clone()).unwrap_err();
        assert!(error.to_string().contains("set TMPDIR"), "{error}");
        assert!(!path.exists());
        let here = |nameless| Owners { own: 7, nameless };
        let is_safe = |owner, mode, nameless| is_safe(&Parent { owner, mode }, &here(nameless));
        for (owner, mode) in [(0, 0o1777), (7, 0o755), (7, 0o775), (7, 0o1777), (0, 0o755)] {
            assert!(is_safe(owner, mode, None), "{owner} {mode:o}");
        }
        for (owner, mode) in [(8, 0o1777), (8, 0o755), (0, 0o777), (0, 0o2775), (7, 0o777)] {
            assert!(!is_safe(owner, mode, None), "{owner} {mode:o}");
        }
        // The host's root has no name in a container.
        assert!(is_safe(65_534, 0o1777, Some(65_534)));
        assert!(!is_safe(65_534, 0o1777, None) && !is_safe(65_534, 0o777, Some(65_534)));
    }

    #[test]
    fn root_of_a_container_is_called_what_it_is_outside() {
        let map = "         0       1000          1\n         1     100000      65536\n";
        assert_eq!(outside(map, 0), Some(1000));
        assert_eq!(outside(map, 2), Some(100_001));
        assert_eq!(outside(map, 70_000), None);
        assert_eq!(outside("0 0 4294967295\n", 1000), Some(1000));
        assert_eq!(outside("", 0), None);
    }
}
