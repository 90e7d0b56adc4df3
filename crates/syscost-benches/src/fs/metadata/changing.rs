//! Operations that add an entry, a file, a link or a directory, or remove one.

use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;

use rustix::fs::{
    AtFlags, FileType, Mode, Stat, linkat, mkdirat, readlinkat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use syscost_harness::prelude::*;

use super::op::{Made, Op};
use crate::fs::entries::{create, open_directory};
use crate::fs::pool::{Effect, Operation};
use crate::fs::space::Space;
use crate::syscall::Bad;

/// The target of links.
const TARGET: &CStr = c"target";

/// Adds the entry of a name, or removes it.
pub(super) struct Changing {
    op: Op,
    effect: Effect,
    made: Made,
    /// The directory that holds the target of links.
    parent: OwnedFd,
}

impl Changing {
    /// What this operation does: entries of this kind are added, or removed.
    pub(super) fn new(space: &Space, op: Op, effect: Effect, made: Made) -> Result<Self, Failure> {
        let parent = open_directory(space.folder())?;
        create(&parent, TARGET).map_err(|bad| Failure::of("create", bad))?;
        Ok(Self {
            op,
            effect,
            made,
            parent,
        })
    }

    /// Whether an entry is what the operation should have made.
    fn is_right(&self, directory: &OwnedFd, name: &CStr, target: &Stat) -> Result<bool, Errno> {
        let entry = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let kind = FileType::from_raw_mode(entry.st_mode);
        Ok(match self.made {
            Made::File => kind == FileType::RegularFile && entry.st_size == 0,
            Made::Link => kind == FileType::RegularFile && entry.st_ino == target.st_ino,
            Made::Symlink => {
                kind == FileType::Symlink && *readlinkat(directory, name, Vec::new())? == *TARGET
            }
            Made::Directory => kind == FileType::Directory,
        })
    }
}

impl Operation for Changing {
    fn effect(&self) -> Effect {
        self.effect
    }

    #[inline(always)]
    fn add(&self, directory: &OwnedFd, name: &CStr) -> Result<(), Bad> {
        match self.made {
            Made::File => create(directory, name)?,
            Made::Link => linkat(&self.parent, TARGET, directory, name, AtFlags::empty())?,
            Made::Symlink => symlinkat(TARGET, directory, name)?,
            Made::Directory => mkdirat(directory, name, Mode::RWXU)?,
        }
        Ok(())
    }

    #[inline(always)]
    fn remove(&self, directory: &OwnedFd, name: &CStr) -> Result<(), Bad> {
        let flags = match self.made {
            Made::Directory => AtFlags::REMOVEDIR,
            Made::File | Made::Link | Made::Symlink => AtFlags::empty(),
        };
        Ok(unlinkat(directory, name, flags)?)
    }

    fn makes_inodes(&self) -> bool {
        self.effect == Effect::Adds && self.made != Made::Link
    }

    fn refused(&self, bad: Bad) -> Failure {
        self.op.refused(bad)
    }

    fn claim(
        &self,
        b: &mut Bencher,
        directory: &OwnedFd,
        names: &[CString],
    ) -> Result<(), Failure> {
        const SOURCE: &str = "newfstatat";
        if self.effect == Effect::Removes {
            return Ok(());
        }
        let failed = |cause| Failure::of("stat of an entry", cause);
        let target = statat(&self.parent, TARGET, AtFlags::empty()).map_err(failed)?;
        let mut right = 0;
        for name in names {
            let is_right = self.is_right(directory, name, &target).map_err(failed)?;
            right += usize::from(is_right);
        }
        let what = match self.made {
            Made::File => "of these that are empty files",
            Made::Link => "of these that are the target itself",
            Made::Symlink => "of these that are links to the target",
            Made::Directory => "of these that are directories",
        };
        b.claim_equal(what, names.len(), right, SOURCE);
        if self.made == Made::Link {
            let (expected, found) = (1 + names.len(), target.st_nlink as usize);
            b.claim_equal("names of the target", expected, found, SOURCE);
        }
        Ok(())
    }
}
