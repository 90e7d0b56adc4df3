//! A directory that is held open.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path};
use std::sync::Arc;

use super::{OTHERS_WRITE, is_own_folder};
use crate::{SystemError, os};

/// A directory that is held open. What is in it is made and opened by single names, relative to the
/// descriptor, and no link is followed: whoever may rename the directory, or put something in its
/// place, leads nobody elsewhere.
#[derive(Debug, Clone)]
pub struct Folder {
    held: Arc<File>,
    /// What messages call it.
    shown: Arc<Path>,
}

impl Folder {
    /// The directory at an absolute path that no link is part of.
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        let refused = |why| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        if !path.is_absolute() {
            return refused("its path is not absolute");
        }
        let mut held = os::root()?;
        for part in path.components() {
            match part {
                Component::RootDir | Component::CurDir => {}
                Component::Normal(name) => held = os::step_into(&held, name)?,
                Component::ParentDir | Component::Prefix(_) => {
                    return refused("its path goes back up");
                }
            }
        }
        Ok(Self {
            held: Arc::new(held),
            shown: path.into(),
        })
    }

    /// Makes a directory in it that only this user may enter.
    ///
    /// # Errors
    /// Also when another one is there once it is opened: the owner of a directory may rename what
    /// others make in it.
    pub(super) fn make(&self, name: &OsStr) -> io::Result<Self> {
        self.make_despite(name, || ())
    }

    /// As [`Folder::make`]; calls `swap` at the moment when a swap would do the most harm.
    fn make_despite(&self, name: &OsStr, swap: impl FnOnce()) -> io::Result<Self> {
        os::make_folder(&self.held, name)?;
        swap();
        let made = self.just_made(name);
        if made.is_err() {
            // Whatever it is, only an empty one is removed.
            let _ = os::remove_folder_at(&self.held, name);
        }
        made
    }

    /// The directory that was just made, unless it is another one, or others may write in it.
    fn just_made(&self, name: &OsStr) -> io::Result<Self> {
        let made = self.folder(name)?;
        let facts = made.held.metadata()?;
        let why = if !is_own_folder(&facts) {
            "another directory was put in its place, or the file system gives what root makes to another user"
        } else if facts.mode() & OTHERS_WRITE != 0 {
            "others may write in it: the file system keeps no modes"
        } else if !made.names()?.is_empty() {
            "another directory was put in its place"
        } else {
            return Ok(made);
        };
        Err(io::Error::other(why))
    }

    pub(super) fn folder(&self, name: &OsStr) -> io::Result<Self> {
        Ok(Self {
            held: Arc::new(os::open_folder(&self.held, name)?),
            shown: Arc::clone(&self.shown),
        })
    }

    /// The directory itself as an open file, e.g. to sync it.
    pub fn file(&self) -> &File {
        &self.held
    }

    /// Creates a file, open for reading and writing, which only this user may use.
    ///
    /// # Errors
    /// When the name is taken, or nothing can be written there.
    pub fn create(&self, name: &str) -> Result<File, SystemError> {
        let made = plain(name).and_then(|name| os::create_at(&self.held, name));
        made.map_err(|cause| self.failed("create", name, cause))
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// When there is none of this name, or it is a link.
    pub fn open(&self, name: &str) -> Result<File, SystemError> {
        self.open_as("open", name, false, 0)
    }

    /// Opens a file for reading and writing with these further flags of open(2), e.g. `O_DIRECT`.
    ///
    /// # Errors
    /// As for [`Folder::open`], or when the file system refuses a flag.
    pub fn open_to_write(&self, name: &str, flags: i32) -> Result<File, SystemError> {
        self.open_as("open for writing", name, true, flags)
    }

    /// Opens a file for reading with O_DIRECT.
    ///
    /// # Errors
    /// As for [`Folder::open`], or when the file system has no direct I/O.
    pub fn open_direct(&self, name: &str) -> Result<File, SystemError> {
        self.open_as("open with O_DIRECT", name, false, os::DIRECT)
    }

    fn open_as(
        &self,
        call: &'static str,
        name: &str,
        write: bool,
        flags: i32,
    ) -> Result<File, SystemError> {
        let opened = plain(name).and_then(|name| os::open_at(&self.held, name, write, flags));
        opened.map_err(|cause| self.failed(call, name, cause))
    }

    /// Every scratch folder has another name: naming its parent keeps messages alike.
    fn failed(&self, call: &'static str, name: &str, cause: io::Error) -> SystemError {
        SystemError::new(call, format!("{name} in {}", self.shown.display()), cause)
    }

    /// The error of a call on the directory as a whole.
    pub(super) fn failed_at(&self, call: &'static str, cause: io::Error) -> SystemError {
        SystemError::new(call, self.shown.display().to_string(), cause)
    }

    pub(super) fn facts(&self) -> io::Result<Metadata> {
        self.held.metadata()
    }

    pub(super) fn names(&self) -> io::Result<Vec<OsString>> {
        os::names_in(&self.held)
    }

    /// Removes an entry that is no directory; that it is gone already is no error.
    pub(super) fn remove_file(&self, name: &str) -> io::Result<()> {
        or_gone(os::remove_file_at(&self.held, name.as_ref()))
    }

    /// Removes an empty directory in it, if the name is still that of `folder`.
    pub(super) fn remove_folder(&self, name: &OsStr, folder: &Folder) -> io::Result<()> {
        let is_same = |there: Folder| {
            let [there, known] = [there.facts()?, folder.facts()?];
            Ok((there.dev(), there.ino()) == (known.dev(), known.ino()))
        };
        match self.folder(name).and_then(is_same) {
            Ok(true) => or_gone(os::remove_folder_at(&self.held, name)),
            // What was renamed away is empty, and its new name unknown.
            Ok(false) => Ok(()),
            // A link in its place.
            Err(cause) if cause.kind() == io::ErrorKind::NotADirectory => Ok(()),
            Err(cause) => or_gone(Err(cause)),
        }
    }

    /// Removes everything in it but these entries. Links are removed, not followed.
    pub(super) fn clear(&self, kept: &[&str]) -> io::Result<()> {
        for name in self.names()? {
            if kept.iter().any(|kept| name == *kept) {
                continue;
            }
            match os::remove_file_at(&self.held, &name) {
                Err(cause) if cause.kind() == io::ErrorKind::IsADirectory => {
                    self.folder(&name)?.clear(&[])?;
                    or_gone(os::remove_folder_at(&self.held, &name))?;
                }
                removed => or_gone(removed)?,
            }
        }
        Ok(())
    }
}

/// A name that leads nowhere but to an entry.
fn plain(name: &str) -> io::Result<&OsStr> {
    match name {
        "" | "." | ".." => Err(io::ErrorKind::InvalidInput.into()),
        name if name.contains('/') => Err(io::ErrorKind::InvalidInput.into()),
        name => Ok(name.as_ref()),
    }
}

fn or_gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_put_in_the_place_of_a_new_folder_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let held = or_skip!(Folder::at(parent.path()), "not written for this system");
        let (path, aside) = (parent.path().join("new"), parent.path().join("aside"));
        let theirs = parent.path().join("theirs");
        fs::create_dir(&theirs).unwrap();
        fs::write(theirs.join("file"), "theirs").unwrap();
        let link = || {
            fs::rename(&path, &aside).unwrap();
            symlink(&theirs, &path).unwrap();
        };
        held.make_despite("new".as_ref(), link).unwrap_err();
        fs::remove_file(&path).unwrap();
        fs::remove_dir(&aside).unwrap();
        // Also one of this user's own, with something in it that would be removed later.
        let swap = || {
            fs::rename(&path, &aside).unwrap();
            fs::rename(&theirs, &path).unwrap();
        };
        let error = held.make_despite("new".as_ref(), swap).unwrap_err();
        assert!(error.to_string().contains("in its place"), "{error}");
        assert_eq!(fs::read(path.join("file")).unwrap(), b"theirs");
    }

    #[test]
    fn a_path_with_a_link_in_it_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        or_skip!(Folder::at(parent.path()));
        fs::create_dir_all(parent.path().join("a/b")).unwrap();
        symlink(parent.path().join("a"), parent.path().join("link")).unwrap();
        assert!(Folder::at(&parent.path().join("a/b")).is_ok());
        for path in ["link/b", "link", "a/../a"] {
            assert!(Folder::at(&parent.path().join(path)).is_err(), "{path}");
        }
        assert!(Folder::at(Path::new("tmp")).is_err());
    }

    #[test]
    fn names_lead_to_entries_only_and_links_are_not_followed() {
        let parent = tempfile::tempdir().unwrap();
        let held = or_skip!(Folder::at(parent.path()), "not written for this system");
        fs::create_dir(parent.path().join("below")).unwrap();
        let victim = parent.path().join("victim");
        fs::write(&victim, "theirs").unwrap();
        symlink(&victim, parent.path().join("below/link")).unwrap();
        let below = held.folder("below".as_ref()).unwrap();
        for name in ["", ".", "..", "../victim", "link"] {
            assert!(below.create(name).is_err(), "{name}");
            assert!(below.open_to_write(name, 0).is_err(), "{name}");
        }
        below.create("own").expect("the name is free");
        below.clear(&["own"]).unwrap();
        assert_eq!(below.names().unwrap(), ["own"]);
        assert_eq!(fs::read(&victim).unwrap(), b"theirs");
    }
}
