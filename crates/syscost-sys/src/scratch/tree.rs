//! Folders with everything in them.

use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::folder::Folder;
use super::record::{Record, Thing};
use super::{Leftover, is_nowhere, is_own_folder};
use crate::{SystemError, Unsupported, os};

/// The file that marks a folder as ours: locked while the folder's creator or a forked copy of it lives.
/// It is removed last, so that what a killed clean-up left is still marked.
const MARKER: &str = ".syscost-scratch";

/// The marker's name before it is locked, so that an unlocked marker always belongs to a process
/// that no longer exists.
const UNLOCKED_MARKER: &str = ".syscost-scratch-unlocked";

/// Maximum number of bytes that must stay free on a file system, if a twentieth of it is more.
const MAX_RESERVE: u64 = 1 << 30;

/// A folder that belongs to this user alone, removed with everything in it when this is dropped, or
/// by the next sweep. It is held open: nobody can put something else in its place.
#[derive(Debug)]
pub struct Tree {
    record: Record,
    parent: Folder,
    name: OsString,
    folder: Folder,
    marker: Option<File>,
}

/// A new folder inside `parent`, an absolute path without links, which no other user may enter.
///
/// # Errors
/// When it cannot be recorded or created, or somebody puts another one in its place meanwhile.
pub fn tree_in(parent: &Path) -> Result<Tree, SystemError> {
    let failed = |call: &'static str, on: &Path| {
        let on = on.display().to_string();
        move |cause| SystemError::new(call, on, cause)
    };
    let held = Folder::at(parent).map_err(failed("open", parent))?;
    let (record, path) = Record::named(|name| {
        let path = parent.join(format!("syscost-{name}"));
        Ok((Thing::Tree(path.clone()), path))
    })?;
    let name = path.file_name().expect("it was just given one");
    let folder = held.make(name).map_err(|cause| {
        record.forget();
        // What may be written nowhere in it is of no use to whoever measures.
        let cause = match is_nowhere(cause.kind()) {
            true => Unsupported::new(cause.to_string()).into(),
            false => cause,
        };
        failed("mkdir", &path)(cause)
    })?;
    let mut tree = Tree {
        record,
        parent: held,
        name: name.to_owned(),
        folder,
        marker: None,
    };
    let marker = mark(&tree.folder).map_err(failed("create a file in", &path))?;
    tree.marker = Some(marker);
    Ok(tree)
}

/// Marks a new folder as ours.
fn mark(folder: &Folder) -> io::Result<File> {
    let marker = os::create_at(folder.file(), UNLOCKED_MARKER.as_ref())?;
    // Where locks are not supported, only the record shows that the creator no longer exists.
    let _ = marker.try_lock();
    os::rename_at(folder.file(), UNLOCKED_MARKER.as_ref(), MARKER.as_ref())?;
    Ok(marker)
}

impl Tree {
    /// The folder.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Makes sure that this many bytes may be written into it, and the reserve is still left: a
    /// twentieth of the file system, or 1 GiB if that is less.
    ///
    /// # Errors
    /// When there is less room; the error says how much.
    pub fn room_for(&self, bytes: u64) -> Result<(), SystemError> {
        let failed = |cause| self.folder.failed_at("write into", cause);
        let (total, free) = os::room_at(self.folder.file()).map_err(failed)?;
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
                Err(failed(io::Error::other(format!(
                    "{free} MiB are free there; {needed}{reserve} MiB must stay free"
                ))))
            }
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        if self.record.is_of_this_process() {
            let marker = self.marker.take();
            // What cannot be removed now stays on record for the next sweep.
            if take_down(&self.parent, &self.name, &self.folder, marker).is_ok() {
                self.record.forget();
            }
        }
    }
}

/// Removes a folder with everything in it; without a marker only if it is empty.
fn take_down(
    parent: &Folder,
    name: &OsStr,
    folder: &Folder,
    marker: Option<File>,
) -> io::Result<()> {
    if marker.is_some() {
        folder.clear(&[MARKER, UNLOCKED_MARKER])?;
    }
    folder.remove_file(UNLOCKED_MARKER)?;
    folder.remove_file(MARKER)?;
    // A file on an NFS server that is removed while it is open stays there until it is closed.
    drop(marker);
    parent.remove_folder(name, folder)
}

/// Removes a folder on record, and its content, if it is one of ours.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let parent = Folder::at(parent)?;
    let (folder, marker) = abandoned(&parent, name, true)?;
    take_down(&parent, name, &folder, marker)
}

/// Removes the trees in a folder whose creators no longer exist, on record or not: records lie in the
/// folder for temporary files, which may be emptied when the machine restarts.
pub fn sweep_in(folder: &Path) -> Vec<Leftover> {
    strays(folder, true)
}

/// The trees in a folder whose creators no longer exist, found by their markers.
/// Removes them if `remove` is set.
pub(super) fn strays(folder: &Path, remove: bool) -> Vec<Leftover> {
    let Ok(parent) = Folder::at(folder) else {
        return Vec::new();
    };
    let mut names = parent.names().unwrap_or_default();
    names.retain(|name| name.as_bytes().starts_with(b"syscost-"));
    names.sort();
    let found = names.iter().filter_map(|name| {
        // Its marker is locked until it is gone, so that no other process removes it meanwhile.
        let (tree, marker) = abandoned(&parent, name, false).ok()?;
        let result = match remove {
            true => take_down(&parent, name, &tree, marker),
            false => Ok(()),
        };
        Some(Leftover {
            what: format!("tree {}", folder.join(name).display()),
            trouble: result.err().map(|cause| cause.to_string()),
        })
    });
    found.collect()
}

/// A tree whose creator no longer exists, according to its record if it is on one, and its marker,
/// locked. Only the marker makes what is in it ours: whoever owns the parent may give any folder in
/// it the name of a tree, and that is all that a record knows. One on record whose creator was
/// killed before it was marked has none, and is empty.
fn abandoned(
    parent: &Folder,
    name: &OsStr,
    is_on_record: bool,
) -> io::Result<(Folder, Option<File>)> {
    let foreign = || io::Error::other("it is not a folder of ours");
    // What stands in its place is another's: the tree itself is gone, and its new name unknown.
    let gone = || io::Error::from(io::ErrorKind::NotFound);
    let folder = parent.folder(name).map_err(|cause| match cause.kind() {
        io::ErrorKind::NotADirectory => gone(),
        _ => cause,
    })?;
    if !is_own_folder(&folder.facts()?) {
        return Err(gone());
    }
    let marker = os::open_at(
        folder.file(),
        MARKER.as_ref(),
        false,
        os::NEITHER_WAIT_NOR_FOLLOW,
    );
    match marker {
        Ok(marker) => match marker.try_lock() {
            _ if !marker.metadata()?.is_file() => Err(foreign()),
            Err(TryLockError::WouldBlock) => Err(io::Error::other("a process uses it")),
            Err(TryLockError::Error(cause)) if !is_on_record => Err(cause),
            Ok(()) | Err(TryLockError::Error(_)) => Ok((folder, Some(marker))),
        },
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
        Err(_) => {
            let is_empty = folder.names()?.iter().all(|name| name == UNLOCKED_MARKER);
            match is_on_record && is_empty {
                true => Ok((folder, None)),
                false => Err(foreign()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, DirBuilder};
    use std::os::unix::fs::{DirBuilderExt, symlink};
    use std::path::PathBuf;
    use std::time::{Duration, SystemTime};

    use super::*;

    /// A folder, a tree in it and the tree's path.
    fn tree() -> Result<(tempfile::TempDir, Tree, PathBuf), SystemError> {
        let parent = tempfile::tempdir().unwrap();
        let tree = tree_in(parent.path())?;
        let path = parent.path().join(&tree.name);
        Ok((parent, tree, path))
    }

    fn private(parent: &Path, name: &str) -> PathBuf {
        let path = parent.join(name);
        DirBuilder::new().mode(0o700).create(&path).unwrap();
        path
    }

    fn marked(path: &Path) {
        let parent = Folder::at(path.parent().unwrap()).unwrap();
        mark(&parent.folder(path.file_name().unwrap()).unwrap()).unwrap();
    }

    #[test]
    fn a_tree_goes_with_all_that_is_in_it_and_nothing_else() {
        let (parent, tree, path) = or_skip!(tree());
        let kept = parent.path().join("kept");
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "theirs").unwrap();
        assert!(super::super::is_ours(&path) && path.join(MARKER).exists());
        fs::create_dir_all(path.join("a/b")).unwrap();
        fs::write(path.join("a/b/c"), "ours").unwrap();
        symlink(&kept, path.join("a/link")).unwrap();
        drop(tree);
        assert!(!path.exists());
        assert_eq!(fs::read(kept.join("file")).unwrap(), b"theirs");
    }

    #[test]
    fn what_is_put_in_a_trees_place_is_neither_written_nor_removed() {
        let (parent, tree, path) = or_skip!(tree());
        let (aside, theirs) = (parent.path().join("aside"), parent.path().join("theirs"));
        let victim = parent.path().join("victim");
        fs::create_dir(&theirs).unwrap();
        fs::write(&victim, "theirs").unwrap();
        symlink(&victim, theirs.join("written_over")).unwrap();
        fs::rename(&path, &aside).unwrap();
        symlink(&theirs, &path).unwrap();
        let folder = tree.folder();
        folder
            .create("written_over")
            .expect("it is free in the tree");
        folder
            .open_to_write("written_over", 0)
            .expect("it is there");
        assert!(aside.join("written_over").is_file());
        let record = tree.record.path().to_owned();
        drop(tree);
        assert!(
            !record.exists(),
            "there is nothing left to remove by its name"
        );
        let gone = remove(&path).unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::NotFound);
        assert_eq!(fs::read(&victim).unwrap(), b"theirs");
        let there: Vec<_> = fs::read_dir(&theirs).unwrap().flatten().collect();
        assert!(there.len() == 1 && there[0].file_type().unwrap().is_symlink());
        assert!(path.is_symlink(), "the link is not ours");
        assert_eq!(fs::read_dir(&aside).unwrap().count(), 0);
    }

    #[test]
    fn a_tree_keeps_its_marker_until_all_else_is_gone() {
        let parent = tempfile::tempdir().unwrap();
        let held = or_skip!(Folder::at(parent.path()), "not written for this system");
        let path = private(parent.path(), "syscost-1-0123456789abcdef");
        marked(&path);
        fs::write(path.join("file"), "ours").unwrap();
        // A removal that ends midway.
        let (tree, _marker) = abandoned(&held, path.file_name().unwrap(), false).unwrap();
        tree.clear(&[MARKER, UNLOCKED_MARKER]).unwrap();
        assert!(path.join(MARKER).exists());
        drop(_marker);
        assert_eq!(sweep_in(parent.path()).len(), 1);
        assert!(!path.exists());
    }

    #[test]
    fn what_is_not_marked_is_nobodys_whatever_its_name_its_mode_its_age_and_the_record() {
        let parent = tempfile::tempdir().unwrap();
        or_skip!(Folder::at(parent.path()), "not written for this system");
        // As whoever owns the parent may rename a folder in it.
        let theirs = private(parent.path(), "syscost-1-0123456789abcdef");
        fs::write(theirs.join("file"), "theirs").unwrap();
        let long_ago = SystemTime::now() - Duration::from_secs(90 * 86_400);
        File::open(&theirs).unwrap().set_modified(long_ago).unwrap();
        assert_eq!(strays(parent.path(), true), []);
        assert!(remove(&theirs).is_err());
        assert_eq!(fs::read(theirs.join("file")).unwrap(), b"theirs");
        // Its maker was killed before it was marked.
        let empty = private(parent.path(), "syscost-2-0123456789abcdef");
        assert_eq!(strays(parent.path(), true), []);
        fs::write(empty.join(UNLOCKED_MARKER), "").unwrap();
        remove(&empty).expect("it is on record");
        assert!(!empty.exists());
    }

    #[test]
    fn a_tree_whose_maker_is_no_more_goes_without_a_record() {
        let (parent, _alive, alive) = or_skip!(tree());
        let left = private(parent.path(), "syscost-1-a");
        marked(&left);
        fs::write(left.join("file"), "ours").unwrap();
        let unmarked = private(parent.path(), "syscost-1-b");
        let kept = private(parent.path(), "kept");
        marked(&kept);
        let link = parent.path().join("syscost-1-c");
        symlink(&kept, &link).unwrap();
        let found = [Leftover {
            what: format!("tree {}", left.display()),
            trouble: None,
        }];
        assert_eq!(strays(parent.path(), false), found);
        assert!(left.exists(), "it was only looked for");
        assert_eq!(sweep_in(parent.path()), found);
        assert!(!left.exists());
        for other in [&alive, &unmarked, &kept, &link] {
            assert!(other.exists(), "{}", other.display());
        }
    }

    #[test]
    fn more_than_there_is_room_for_is_refused() {
        let (_parent, tree, _) = or_skip!(tree());
        let reason = tree.room_for(u64::MAX / 2).unwrap_err().to_string();
        println!("{reason}");
        assert!(reason.contains("must stay free"), "{reason}");
    }
}
