//! Operations that remove the entry of an empty file or directory.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Mode, mkdirat, unlinkat};
use syscost_harness::prelude::*;

use super::op::{Op, Removed};
use crate::fs::durable::Sync;
use crate::fs::entries::create;
use crate::fs::pool::{Effect, Operation};
use crate::syscall::Bad;

/// Removes the entry of a name.
pub(super) struct Removing {
    pub(super) removed: Removed,
    pub(super) sync: Sync,
}

impl Operation for Removing {
    fn effect(&self) -> Effect {
        Effect::Removes
    }

    fn expect(&self, b: &mut Bencher, directory: &OwnedFd) {
        self.sync.expect_synced(b, directory);
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
