//! Where a row of this group writes: a folder of its own in the row's directory.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use syscost_harness::directory::Directory;
use syscost_harness::prelude::*;
use syscost_sys::files::{self, Filesystem, stamp};
use syscost_sys::scratch::{self, Tree};

/// Written at once, in bytes.
const PART: usize = 1 << 20;

/// A folder in the directory of a case, which goes with all that is in it.
pub(super) struct Space {
    tree: Tree,
    filesystem: Filesystem,
}

/// A file of a [`Space`] whose content says where it belongs.
#[derive(Debug, Clone)]
pub(super) struct Stamped {
    path: PathBuf,
    bytes: u64,
    seed: u64,
}

impl Space {
    /// A new folder for this case.
    pub(super) fn of(case: &Case) -> Result<Self, Failure> {
        let directory = Directory::of(case)?;
        let tree = scratch::tree_in(directory.made()?)?;
        let filesystem = files::filesystem(tree.path())?;
        Ok(Self { tree, filesystem })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        self.tree.path()
    }

    /// The file system that it is on.
    pub(super) fn filesystem(&self) -> &Filesystem {
        &self.filesystem
    }

    /// Makes sure that this many bytes may be written.
    pub(super) fn room_for(&self, bytes: u64) -> Result<(), Failure> {
        Ok(self.tree.room_for(bytes)?)
    }

    /// A file of this many bytes, written back to its device already.
    pub(super) fn file(&self, name: &str, bytes: u64, seed: u64) -> Result<Stamped, Failure> {
        self.room_for(bytes)?;
        let path = self.path().join(name);
        let failed = |cause| Failure::of(&format!("write {}", path.display()), cause);
        let mut file = File::create_new(&path).map_err(failed)?;
        let mut part = vec![0; PART];
        let mut offset = 0;
        while offset < bytes {
            let length = PART.min((bytes - offset) as usize);
            stamp::fill(&mut part[..length], offset, seed);
            file.write_all(&part[..length]).map_err(failed)?;
            offset += length as u64;
        }
        file.sync_all().map_err(failed)?;
        Ok(Stamped { path, bytes, seed })
    }
}

impl Stamped {
    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// How long it is.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Opens it to be read through the page cache.
    pub(super) fn open(&self) -> Result<File, Failure> {
        File::open(&self.path)
            .map_err(|cause| Failure::of(&format!("open {}", self.path.display()), cause))
    }

    /// Opens it to be read past the page cache.
    ///
    /// # Errors
    /// Unsupported where the file system serves such reads from its cache all the same.
    pub(super) fn open_direct(&self) -> Result<File, Failure> {
        let file = self.open()?;
        if files::direct_alignment(&file)?.is_none() {
            return Err(Failure::Unsupported(
                "this file system has no direct I/O: it serves O_DIRECT from the page cache".into(),
            ));
        }
        Ok(files::open_direct(&self.path, false)?)
    }

    /// Compares what was read from `offset` with what was written there.
    pub(super) fn check(&self, bytes: &[u8], offset: u64) -> Result<(), Failure> {
        stamp::check(bytes, offset, self.seed).map_err(|wrong| Failure::Refuted(wrong.to_string()))
    }
}
