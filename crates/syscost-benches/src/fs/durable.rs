//! Shared: whether each operation waits until the device has what it changed.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::fsync;
use rustix::io::Errno;
use syscost_harness::prelude::*;
use syscost_sys::files::{Device, Filesystem, Moved};

use super::space::Space;

/// The parameter that says what follows each operation.
pub(super) const KEY: &str = "sync";

/// What follows each operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sync {
    /// Nothing: the kernel writes back when it likes.
    None,
    /// fsync: the device has it.
    Fsync,
}

impl Sync {
    pub(super) const ALL: [Sync; 2] = [Sync::None, Sync::Fsync];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Sync::None => "none",
            Sync::Fsync => "fsync",
        }
    }

    pub(super) fn of(case: &Case) -> Result<Self, Failure> {
        let name = case.get(KEY);
        let found = Self::ALL.into_iter().find(|sync| sync.name() == name);
        found.ok_or_else(|| Failure::Broken(format!("has an unknown sync: {name:?}")))
    }

    pub(super) fn is_fsync(self) -> bool {
        self == Sync::Fsync
    }

    /// Waits for the device, if that belongs to the operation.
    #[inline(always)]
    pub(super) fn wait(self, file: impl AsFd) -> Result<(), Errno> {
        match self {
            Sync::None => Ok(()),
            Sync::Fsync => fsync(file),
        }
    }

    /// Expects that what is waited for is this file or directory.
    pub(super) fn expect_synced(self, b: &mut Bencher, file: &OwnedFd) {
        const DESCRIPTOR: Argument = Argument {
            position: 0,
            name: "descriptor",
        };
        if self.is_fsync() {
            let given = Given::Always(file.as_raw_fd() as u64);
            b.expect_argument(Sysno::FSYNC, DESCRIPTOR, given);
        }
    }

    /// What an operation on this file system may do beside its calls: wait, for its device, its
    /// journal or its server.
    pub(super) fn expect(self, b: &mut Bencher, filesystem: &Filesystem) -> Result<(), Failure> {
        match self {
            Sync::Fsync if filesystem.is_in_memory() => {
                return Err(Failure::Unsupported(format!(
                    "{} has no device that fsync could wait for",
                    filesystem.kind
                )));
            }
            Sync::Fsync => {
                b.expect(calls(Sysno::FSYNC));
                b.expect(at_most(Counter::VoluntarySwitches, MAX_WAITS));
            }
            Sync::None if filesystem.is_remote() => {
                b.expect(at_most(Counter::VoluntarySwitches, MAX_WAITS));
            }
            Sync::None => b.expect(at_most(Counter::VoluntarySwitches, RARE_WAITS)),
        }
        Ok(())
    }
}

/// Whether the device is the cost of this case.
pub(super) fn is_of_the_device(case: &Case) -> bool {
    case.get(KEY) == Sync::Fsync.name()
}

/// The journal, the blocks and the device's cache may each be waited for, and a server.
const MAX_WAITS: f64 = 20.0;

/// A change in the cache alone may meet a transaction of the journal that is being closed.
const RARE_WAITS: f64 = 0.05;

/// What the device of a space was given so far.
pub(super) struct Delivered {
    device: Result<(Device, Moved), Unsupported>,
}

impl Delivered {
    pub(super) fn so_far(space: &Space) -> Result<Self, Failure> {
        let folder = std::fs::File::open(space.path())
            .map_err(|cause| Failure::of(&format!("open {}", space.path().display()), cause))?;
        let device = Device::of(&folder).and_then(|device| {
            let moved = device.moved()?;
            Ok((device, moved))
        });
        Ok(Self { device })
    }

    /// Claims that it has been given something for each operation since. Others may have given it
    /// something, too; that fsync was called, and on what, is for the audit to say.
    pub(super) fn claim_more(self, b: &mut Bencher) -> Result<(), Failure> {
        const CLAIM: &str = "bytes that the device was given per operation";
        let least = Bound::AtLeast(512.0);
        match self.device {
            Ok((device, before)) => {
                let written = device.moved()?.written - before.written;
                let per_operation = written as f64 / b.operations().max(1) as f64;
                b.claim_within(CLAIM, least, per_operation, &device.source());
            }
            Err(reason) => {
                b.claim_unverified(CLAIM, least.fact(), "", "device", &reason.to_string());
            }
        }
        Ok(())
    }
}

/// Syncs a directory, so that what was prepared in it is not part of what is measured. Not every
/// file system can.
pub(super) fn settle(directory: &OwnedFd) -> Result<(), Failure> {
    fsync(directory).map_err(|cause| match cause {
        Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP => {
            Failure::Unsupported(format!("this file system has no fsync of a directory: {cause}"))
        }
        _ => Failure::of("fsync a directory", cause),
    })
}
