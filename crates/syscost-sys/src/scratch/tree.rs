//! Folders with everything in them.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::record::{Record, Thing};
use super::{Leftover, is_ours};
use crate::{SystemError, os};

/// The file that marks a folder as ours: locked while the folder's creator or a forked copy of it lives.
const MARKER: &str = ".syscost-scratch";

/// The marker's name before it is locked, so that an unlocked marker always belongs to a process
/// that no longer exists.
const UNLOCKED_MARKER: &str = ".syscost-scratch-unlocked";

/// Maximum number of bytes that must stay free on a file system, if a twentieth of it is more.
const MAX_RESERVE: u64 = 1 << 30;

/// A folder that belongs to this user alone, removed with everything in it when this is dropped, or
/// by the next sweep.
#[derive(Debug)]
pub struct Tree {
    record: Record,
    path: PathBuf,
    _marker: File,
}

/// A new folder inside `parent`, which no other user may enter.
///
/// # Errors
/// When it cannot be recorded or created.
pub fn tree_in(parent: &Path) -> Result<Tree, SystemError> {
    let failed = |call: &'static str, on: &Path| {
        let on = on.display().to_string();
        move |cause| SystemError::new(call, on, cause)
    };
    // Recorded by a name that is valid from any working directory.
    let parent = fs::canonicalize(parent).map_err(failed("open", parent))?;
    let (record, path) = Record::named(|name| {
        let path = parent.join(format!("syscost-{name}"));
        Ok((Thing::Tree(path.clone()), path))
    })?;
    let made = DirBuilder::new().mode(0o700).create(&path);
    if let Err(cause) = made {
        record.forget();
        return Err(failed("mkdir", &path)(cause));
    }
    match mark(&path) {
        Ok(marker) => Ok(Tree {
            record,
            path,
            _marker: marker,
        }),
        Err(cause) => {
            record.release();
            Err(failed("create a file in", &path)(cause))
        }
    }
}

/// Marks a new folder as ours.
fn mark(folder: &Path) -> io::Result<File> {
    let unlocked = folder.join(UNLOCKED_MARKER);
    let marker = File::create_new(&unlocked)?;
    // Where locks are not supported, only the record shows that the creator no longer exists.
    let _ = marker.try_lock();
    fs::rename(&unlocked, folder.join(MARKER))?;
    Ok(marker)
}

impl Tree {
    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes sure that this many bytes may be written into it, and the reserve is still left.
    ///
    /// # Errors
    /// When there is less room; the error says how much.
    pub fn room_for(&self, bytes: u64) -> Result<(), SystemError> {
        room_for(&self.path, bytes)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.record.release();
    }
}

/// Makes sure that this many bytes may be written into a folder, and the reserve is still left: a
/// twentieth of the file system, or 1 GiB if that is less.
///
/// # Errors
/// When there is less room; the error says how much.
pub fn room_for(folder: &Path, bytes: u64) -> Result<(), SystemError> {
    // Every scratch folder has another name: naming its parent instead keeps messages alike.
    let place = match is_ours(folder) {
        true => folder.parent().unwrap_or(folder),
        false => folder,
    };
    let failed = |cause| SystemError::new("write into", place.display().to_string(), cause);
    let (total, free) = os::room(folder).map_err(failed)?;
    let reserve = MAX_RESERVE.min(total / 20);
    match free.checked_sub(reserve) {
        Some(room) if room >= bytes => Ok(()),
        _ => {
            let [free, wanted, reserve] =
                [free, bytes, reserve].map(|bytes| bytes.div_ceil(1 << 20));
            let needed = match wanted {
                0 => String::new(),
                wanted => format!("{wanted} MiB are needed, and "),
            };
            let reason = format!("{free} MiB are free there; {needed}{reserve} MiB must stay free");
            Err(failed(io::Error::other(reason)))
        }
    }
}

/// Removes a folder and its content, if it is one of ours: it has the marker, or is still empty.
/// Links in it are removed, not followed.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    if !is_ours(path) {
        return match fs::symlink_metadata(path) {
            Ok(_) => Err(io::Error::other("it is not a folder of ours")),
            Err(cause) => Err(cause),
        };
    }
    match fs::symlink_metadata(path.join(MARKER)) {
        Ok(_) => fs::remove_dir_all(path),
        Err(_) => {
            // The creator may have ended before the marker was locked.
            let _ = fs::remove_file(path.join(UNLOCKED_MARKER));
            fs::remove_dir(path)
        }
    }
}

/// Removes the trees in a folder whose creators no longer exist, on record or not: records lie in the
/// folder for temporary files, which may be emptied when the machine restarts.
pub fn sweep_in(folder: &Path) -> Vec<Leftover> {
    strays(folder, true)
}

/// The trees in a folder whose creators no longer exist, found by their markers. Removes them if
/// `remove` is set.
pub(super) fn strays(folder: &Path, remove: bool) -> Vec<Leftover> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().as_bytes().starts_with(b"syscost-"))
        .map(|entry| entry.path())
        .filter(|path| is_ours(path))
        .collect();
    paths.sort();
    let found = paths.into_iter().filter_map(|path| {
        // Held until the tree is gone, so that no other process removes it meanwhile.
        let _marker = abandoned(&path)?;
        let result = if remove { self::remove(&path) } else { Ok(()) };
        Some(Leftover {
            what: format!("tree {}", path.display()),
            trouble: result.err().map(|cause| cause.to_string()),
        })
    });
    found.collect()
}

/// The marker of a tree, locked, if no process holds it.
fn abandoned(tree: &Path) -> Option<File> {
    let mut options = File::options();
    options.read(true).custom_flags(os::NEITHER_WAIT_NOR_FOLLOW);
    let marker = options.open(tree.join(MARKER)).ok()?;
    let is_file = marker.metadata().ok()?.is_file();
    (is_file && marker.try_lock().is_ok()).then_some(marker)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_goes_with_all_that_is_in_it_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let kept = parent.path().join("kept");
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "theirs").unwrap();
        let tree = match tree_in(parent.path()) {
            Ok(tree) => tree,
            Err(reason) => return println!("skipped: {reason}"),
        };
        let path = tree.path().to_owned();
        assert!(is_ours(&path) && path.join(MARKER).exists());
        fs::create_dir_all(path.join("a/b")).unwrap();
        fs::write(path.join("a/b/c"), "ours").unwrap();
        std::os::unix::fs::symlink(&kept, path.join("a/link")).unwrap();
        drop(tree);
        assert!(!path.exists());
        assert_eq!(fs::read(kept.join("file")).unwrap(), b"theirs");
    }

    #[test]
    fn a_folder_without_the_marker_is_left_alone() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("syscost-theirs");
        DirBuilder::new().mode(0o700).create(&path).unwrap();
        fs::write(path.join("file"), "theirs").unwrap();
        assert!(remove(&path).is_err());
        assert_eq!(fs::read(path.join("file")).unwrap(), b"theirs");
    }

    #[test]
    fn a_tree_whose_maker_is_no_more_goes_without_a_record() {
        let parent = tempfile::tempdir().unwrap();
        let alive = match tree_in(parent.path()) {
            Ok(tree) => tree,
            Err(reason) => return println!("skipped: {reason}"),
        };
        let folder = |name: &str| {
            let path = parent.path().join(name);
            DirBuilder::new().mode(0o700).create(&path).unwrap();
            path
        };
        let left = folder("syscost-1-a");
        mark(&left).unwrap();
        fs::write(left.join("file"), "ours").unwrap();
        let unmarked = folder("syscost-1-b");
        let kept = folder("kept");
        mark(&kept).unwrap();
        let link = parent.path().join("syscost-1-c");
        std::os::unix::fs::symlink(&kept, &link).unwrap();
        let found = [Leftover {
            what: format!("tree {}", left.display()),
            trouble: None,
        }];
        assert_eq!(strays(parent.path(), false), found);
        assert!(left.exists(), "it was only looked for");
        assert_eq!(sweep_in(parent.path()), found);
        assert!(!left.exists());
        for other in [alive.path(), &unmarked, &kept, &link] {
            assert!(other.exists(), "{}", other.display());
        }
    }

    #[test]
    fn more_than_there_is_room_for_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let reason = room_for(parent.path(), u64::MAX / 2)
            .unwrap_err()
            .to_string();
        println!("{reason}");
        assert!(
            reason.contains("must stay free") || reason.contains("Linux"),
            "{reason}"
        );
    }
}
