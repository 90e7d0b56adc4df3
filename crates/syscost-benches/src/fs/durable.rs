//! Shared: whether each operation waits until its change is on the device.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::fsync;
use rustix::io::Errno;
use syscost_harness::prelude::*;
use syscost_sys::files::Filesystem;

use super::waits::{MAX_JOURNAL, MAX_SLEEPS, has_device};

/// What follows each operation.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sync {
    /// Nothing: the kernel writes back in its own time.
    None,
    /// fsync: the change is on the device.
    Fsync,
}

impl Sync {
    /// Whether it is the device that is measured.
    pub(super) fn is_of_the_device(self) -> bool {
        self == Sync::Fsync
    }

    /// Whether there is a device to wait for in the directory of this label, if it is waited for.
    pub(super) fn support(self, here: &Here, label: &str) -> Result<(), Unsupported> {
        match self {
            Sync::None => Ok(()),
            Sync::Fsync => has_device(here, label),
        }
    }

    /// Waits for the device, if that is part of the operation.
    #[inline(always)]
    pub(super) fn wait(self, file: impl AsFd) -> Result<(), Errno> {
        match self {
            Sync::None => Ok(()),
            Sync::Fsync => fsync(file),
        }
    }

    /// Proof by whether fsync is called, once for each operation.
    pub(super) fn proof(self) -> Proof {
        Proof::counted(self.is_of_the_device().then_some(calls(Sysno::FSYNC)))
    }

    /// Expects that what is synced is this file or directory, or something else, where anything is.
    pub(super) fn expect_synced(
        self,
        plan: &mut Plan,
        given: fn(u64) -> ArgumentValue,
        file: &OwnedFd,
    ) {
        if self.is_of_the_device() {
            let given = given(file.as_raw_fd() as u64);
            plan.expect_argument(Sysno::FSYNC, (0, "descriptor"), given);
        }
    }
}

/// Allows what an operation that changes nothing may do besides its calls: ask a server, if there is one.
pub(super) fn expect_answers(plan: &mut Plan, filesystem: &Filesystem) {
    if filesystem.is_remote() {
        plan.expect(MAX_SLEEPS);
    }
}

/// The bytes that the device receives for each operation, at least and at most, where other
/// programs write little: that fsync was called, and on what, is shown by the audit.
pub(super) const DELIVERED: (f64, f64) = (512.0, MAX_JOURNAL);

/// Syncs a directory, so that its preparation is not part of the measurement. Not every
/// file system can do that.
pub(super) fn settle(directory: &OwnedFd) -> Result<(), Failure> {
    fsync(directory).map_err(|cause| match cause {
        Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP => Failure::Unsupported(format!(
            "this file system has no fsync of a directory: {cause}"
        )),
        cause => Failure::of("fsync a directory", cause),
    })
}
