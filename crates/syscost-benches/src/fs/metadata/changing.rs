//! Operations that add an entry, a file, a link or a directory, or remove one.

use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use rustix::fs::{
    AtFlags, FileType, Mode, Stat, linkat, mkdirat, readlinkat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use syscost_harness::prelude::*;

use super::op::{Made, Op, Removed};
use crate::fs::durable::Sync;
use crate::fs::entries::{create, open_directory};
use crate::fs::pool::{Effect, Operation};
use crate::fs::space::Space;
use crate::syscall::Bad;

/// The target of links.
const TARGET: &CStr = c"target";

impl Made {
    const fn kind(self) -> FileType {
        match self {
            Made::File | Made::Link => FileType::RegularFile,
            Made::Symlink => FileType::Symlink,
            Made::Directory => FileType::Directory,
        }
    }

    /// The claim in the evidence that entries are correct.
    const fn claim(self) -> &'static str {
        match self {
            Made::File => "of these that are empty files",
            Made::Link => "of these that are the target itself",
            Made::Symlink => "of these that are links to the target",
            Made::Directory => "of these that are directories",
        }
    }
}

/// Adds the entry of a name.
pub(super) struct Adding {
    made: Made,
    sync: Sync,
    /// The directory that holds the target of links.
    parent: OwnedFd,
}

impl Adding {
    pub(super) fn new(space: &Space, made: Made, sync: Sync) -> Result<Self, Failure> {
        let parent = open_directory(space.folder())?;
        create(&parent, TARGET).map_err(|bad| Failure::of("create", bad))?;
        Ok(Self { made, sync, parent })
    }

    /// Whether an entry is what the operation should have made.
    fn is_right(&self, directory: &OwnedFd, name: &CStr, target: &Stat) -> Result<bool, Errno> {
        let entry = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let is_right = match self.made {
            Made::File => entry.st_size == 0,
            Made::Link => entry.st_ino == target.st_ino,
            Made::Symlink => *readlinkat(directory, name, Vec::new())? == *TARGET,
            Made::Directory => true,
        };
        Ok(is_right && FileType::from_raw_mode(entry.st_mode) == self.made.kind())
    }
}

impl Operation for Adding {
    fn effect(&self) -> Effect {
        Effect::Adds
    }

    fn expect(&self, plan: &mut Plan, directory: &OwnedFd) {
        self.sync
            .expect_synced(plan, ArgumentValue::Always, directory);
    }

    #[inline(always)]
    fn perform(&self, directory: &OwnedFd, name: &CStr) -> Result<(), Bad> {
        match self.made {
            Made::File => create(directory, name)?,
            Made::Link => linkat(&self.parent, TARGET, directory, name, AtFlags::empty())?,
            Made::Symlink => symlinkat(TARGET, directory, name)?,
            Made::Directory => mkdirat(directory, name, Mode::RWXU)?,
        }
        Ok(self.sync.wait(directory)?)
    }

    fn take_back(&self, directory: &OwnedFd, name: &CStr) -> Result<(), Bad> {
        let flags = match self.made {
            Made::Directory => AtFlags::REMOVEDIR,
            Made::File | Made::Link | Made::Symlink => AtFlags::empty(),
        };
        Ok(unlinkat(directory, name, flags)?)
    }

    fn makes_inodes(&self) -> bool {
        self.made != Made::Link
    }

    fn refused(&self, bad: Bad) -> Failure {
        Op::Make(self.made).refused(bad)
    }

    fn claim(
        &self,
        b: &mut Bencher,
        directory: &OwnedFd,
        names: &[CString],
    ) -> Result<(), Failure> {
        const SOURCE: &str = "newfstatat";
        let failed = |cause| Failure::of("stat of an entry", cause);
        let target = statat(&self.parent, TARGET, AtFlags::empty()).map_err(failed)?;
        let mut right = 0;
        for name in names {
            let is_right = self.is_right(directory, name, &target).map_err(failed)?;
            right += usize::from(is_right);
        }
        b.claim_equal(self.made.claim(), names.len(), right, SOURCE);
        if self.made == Made::Link {
            let expected = 1 + names.len();
            b.claim_equal(
                "names of the target",
                expected,
                target.st_nlink as usize,
                SOURCE,
            );
        }
        Ok(())
    }
}

/// Removes the entry of a name.
pub(super) struct Removing {
    pub(super) removed: Removed,
    pub(super) sync: Sync,
}

impl Operation for Removing {
    fn effect(&self) -> Effect {
        Effect::Removes
    }

    fn expect(&self, plan: &mut Plan, directory: &OwnedFd) {
        self.sync
            .expect_synced(plan, ArgumentValue::Always, directory);
    }

    #[inline(always)]
    fn perform(&self, directory: &OwnedFd, name: &CStr) -> Result<(), Bad> {
        let flags = match self.removed {
            Removed::File => AtFlags::empty(),
            Removed::Directory => AtFlags::REMOVEDIR,
        };
        unlinkat(directory, name, flags)?;
        Ok(self.sync.wait(directory)?)
    }

    fn take_back(&self, directory: &OwnedFd, name: &CStr) -> Result<(), Bad> {
        match self.removed {
            Removed::File => create(directory, name),
            Removed::Directory => Ok(mkdirat(directory, name, Mode::RWXU)?),
        }
    }

    fn refused(&self, bad: Bad) -> Failure {
        Op::Remove(self.removed).refused(bad)
    }
}
