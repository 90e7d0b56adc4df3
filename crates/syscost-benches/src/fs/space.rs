//! Shared: where a row of this group writes: a separate folder in the row's directory.
//!
//! - [`cache`]: how much of a file is in the page cache.
//! - [`storage`]: what storage delivered.

mod cache;
mod storage;

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

use syscost_harness::prelude::*;
use syscost_sys::files::{self, Buffer, Filesystem, stamp};
use syscost_sys::platform;
use syscost_sys::scratch::{self, Folder, Tree};

pub(super) use cache::{Cache, Resident};
pub(super) use storage::{
    COUNTED_OF_THREAD, Storage, all_fetched, fetched_ahead, see_fetched, unfetched,
};

use crate::witness::files::see_directory;

/// Alignment of memory for direct I/O, in bytes: no device with direct I/O requires more.
pub(super) const ALIGNMENT: usize = 4 << 10;

/// Bytes per write.
const PART: usize = 1 << 20;

/// A folder in the directory of a case, which is removed with its content.
pub(crate) struct Space {
    tree: Tree,
    filesystem: Filesystem,
}

/// A file of a [`Space`] whose content shows where it belongs.
#[derive(Debug, Clone)]
pub(super) struct Stamped {
    folder: Folder,
    name: String,
    bytes: u64,
    seed: u64,
}

impl Space {
    pub(crate) fn in_directory(b: &mut Bencher, label: &str) -> Result<Self, Failure> {
        let space = Self::within(&b.targets().directory(label)?.made()?)?;
        see_directory(b, space.folder().file());
        Ok(space)
    }

    fn within(folder: &Path) -> Result<Self, Failure> {
        let tree = scratch::tree_in(folder)?;
        let filesystem = files::filesystem_of(tree.folder().file())?;
        Ok(Self { tree, filesystem })
    }

    pub(crate) fn folder(&self) -> &Folder {
        self.tree.folder()
    }

    pub(crate) fn filesystem(&self) -> &Filesystem {
        &self.filesystem
    }

    /// Checks that pages can be evicted from the page cache here.
    ///
    /// # Errors
    /// Unsupported where files exist only in memory.
    pub(super) fn has_storage(&self) -> Result<(), Failure> {
        match self.filesystem.is_in_memory() {
            true => Err(Failure::Unsupported(format!(
                "the cache cannot be defeated: {} has its files in memory and nowhere else",
                self.filesystem.kind
            ))),
            false => Ok(()),
        }
    }

    /// Checks that this many bytes may be written.
    pub(crate) fn room_for(&self, bytes: u64) -> Result<(), Failure> {
        Ok(self.tree.room_for(bytes)?)
    }

    /// Creates a file of this many bytes, already written back to its device.
    pub(super) fn file(&self, name: &str, bytes: u64, seed: u64) -> Result<Stamped, Failure> {
        self.room_for(bytes)?;
        let failed = |cause| Failure::of(&format!("write {name}"), cause);
        let mut file = self.folder().create(name)?;
        let mut part = vec![0; PART];
        let mut offset = 0;
        while offset < bytes {
            let length = PART.min((bytes - offset) as usize);
            stamp::fill(&mut part[..length], offset, seed);
            file.write_all(&part[..length]).map_err(failed)?;
            offset += length as u64;
        }
        file.sync_all().map_err(failed)?;
        Ok(Stamped {
            folder: self.folder().clone(),
            name: name.to_owned(),
            bytes,
            seed,
        })
    }

    /// Reads a file, whose length is a multiple of 4096 bytes, from its device, and says how: directly where
    /// the file system can, otherwise after its pages have left the cache. A file in memory is read from
    /// memory.
    pub(super) fn read_back(&self, name: &str) -> Result<(Buffer, &'static str), Failure> {
        let failed = |cause| Failure::of("read back what was written", cause);
        let mut file = self.folder().open(name)?;
        let mut source = "read from memory";
        if !self.filesystem.is_in_memory() {
            files::drop_cache(&file)?;
            source = "read after the page cache was emptied";
            if let Ok(Some(_)) = files::direct_alignment(&file) {
                file = self.folder().open_direct(name)?;
                source = "read with O_DIRECT";
            }
        }
        let length = file.metadata().map_err(failed)?.len() as usize;
        let mut bytes = Buffer::new(length, ALIGNMENT);
        file.read_exact_at(&mut bytes, 0).map_err(failed)?;
        Ok((bytes, source))
    }
}

impl Stamped {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Length of the file, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Opens it for reading through the page cache.
    pub(super) fn open(&self) -> Result<File, Failure> {
        Ok(self.folder.open(&self.name)?)
    }

    /// Opens it for reading with direct I/O. Some file systems accept that and read through the page cache
    /// nevertheless.
    pub(super) fn open_direct(&self) -> Result<File, Failure> {
        let opened = self.folder.open_direct(&self.name);
        opened.map_err(|error| Failure::Unsupported(error.to_string()))
    }

    /// Computes what was written from `offset` on.
    pub(super) fn content(&self, part: &mut [u8], offset: u64) {
        stamp::fill(part, offset, self.seed);
    }

    /// Compares what was read from `offset` with what was written there.
    pub(super) fn check(&self, bytes: &[u8], offset: u64) -> Result<(), Failure> {
        Ok(stamp::check(bytes, offset, self.seed)?)
    }
}

pub(crate) fn claim_flag(b: &mut Bencher, file: &File) -> Result<(), Failure> {
    let flag = match files::is_direct(file)? {
        true => "set",
        false => "not set",
    };
    b.claim_equal("O_DIRECT of the open file", "set", flag, "fcntl F_GETFL");
    Ok(())
}

/// Adds a detail, for a row whose bytes came from storage, if that is a virtual machine's: its host may
/// have had them in a cache of its own.
pub(super) fn detail_guest(b: &mut Bencher) {
    if platform::hypervisor().is_some() {
        b.detail("guest_cold", 1.0);
    }
}

#[cfg(test)]
pub(super) mod tests {

    use super::*;
    use crate::testing::{claims, findings_by};

    /// What tests that run at the same time may cause to be refuted: they fork, and compete for the CPUs.
    const OF_OTHERS: [&str; 3] = [
        "minor page faults",
        "voluntary switches",
        "time of 2n operations",
    ];

    pub(in crate::fs) fn is_of_others(claim: &str) -> bool {
        OF_OTHERS.iter().any(|other| claim.starts_with(other))
    }

    /// The claims that the evidence pass refutes.
    pub(in crate::fs) fn refuted(
        expect: &[Expect],
        measure: impl FnOnce(Plan) -> Result<Outcome, Failure>,
    ) -> Result<Vec<String>, Failure> {
        let found = findings_by(&Case::default(), Pass::Evidence, expect, measure)?;
        let mut refuted = claims(&found, Verdict::Refuted);
        refuted.retain(|claim| !is_of_others(claim));
        Ok(refuted)
    }

    /// A space on a disk; `None` where the build is in memory.
    pub(in crate::fs) fn on_disk() -> Option<Space> {
        let space = Space::within(&crate::testing::on_disk()).ok()?;
        (!space.filesystem().is_in_memory()).then_some(space)
    }
}
