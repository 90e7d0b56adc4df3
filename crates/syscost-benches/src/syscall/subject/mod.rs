//! The objects of calls: devices, files, and sets of descriptors of which one is ready.

mod descriptors;

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{
    AtFlags, CWD, FileType, MemfdFlags, Mode, OFlags, Stat, fstat, ftruncate, major, memfd_create,
    minor, open, statat,
};
use rustix::pipe::{PipeFlags, pipe_with};
use syscost_harness::prelude::*;

use crate::witness::descriptors::kind_of;

pub(super) use descriptors::{Descriptors, Kind, Polling, Ready, Waiting};

/// A device of memory (major number 1, the kernel's Documentation/admin-guide/devices.txt).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Device {
    path: &'static CStr,
    minor: u32,
}

/// What is written to it is gone.
pub(crate) const NULL: Device = Device {
    path: c"/dev/null",
    minor: 3,
};

/// Reads as zeros without an end.
pub(super) const ZERO: Device = Device {
    path: c"/dev/zero",
    minor: 5,
};

impl Device {
    /// The device, open for reading and writing.
    ///
    /// # Errors
    /// Unsupported where something else has its name: a file, once `root` has overwritten /dev/null.
    pub(crate) fn open(self) -> Result<OwnedFd, Failure> {
        let name = self.path.to_string_lossy();
        let failed = |error| Failure::of(&format!("open {name}"), error);
        let fd = open(self.path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).map_err(failed)?;
        let found = fstat(&fd).map_err(failed)?;
        let number = (major(found.st_rdev), minor(found.st_rdev));
        let is_device = FileType::from_raw_mode(found.st_mode) == FileType::CharacterDevice;
        if is_device && number == (1, self.minor) {
            return Ok(fd);
        }
        let what = format!(
            "{name} is not the device 1:{} here: mknod(1) makes it",
            self.minor
        );
        Err(Failure::Unsupported(what))
    }
}

/// A file of one page that lives in memory only and goes away with its descriptor.
pub(super) fn file_in_memory() -> Result<OwnedFd, Failure> {
    let file = memfd_create(c"syscost", MemfdFlags::CLOEXEC).tried("make a file in memory")?;
    ftruncate(&file, 4096).tried("size a file in memory")?;
    Ok(file)
}

pub(crate) fn pipe() -> Result<(OwnedFd, OwnedFd), Failure> {
    pipe_with(PipeFlags::CLOEXEC).tried("make a pipe")
}

/// A regular file that always exists, on whatever file system holds it: this program's own executable.
pub(super) struct OwnExecutable {
    directory: OwnedFd,
    name: CString,
}

/// Opens the directory of this program's executable.
pub(super) fn own_executable() -> Result<OwnExecutable, Failure> {
    let path = std::env::current_exe().tried("find this program's executable")?;
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Failure::of(
            "find this program's executable",
            path.display(),
        ));
    };
    let directory = open(directory, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
        .map_err(|cause| Failure::of(&format!("open {}", directory.display()), cause))?;
    let name = CString::new(name.as_bytes()).tried("name this program's executable")?;
    Ok(OwnExecutable { directory, name })
}

/// What a path leads to.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// This program's own executable, named within its directory.
    File,
    /// /dev/null.
    Device,
    /// The root directory.
    Root,
}

impl OwnExecutable {
    /// A directory, and the path from there.
    pub(super) fn place(&self, of: Named) -> Result<(BorrowedFd<'_>, &CStr), Failure> {
        Ok(match of {
            Named::File => (self.directory.as_fd(), &self.name),
            Named::Device => NULL.open().map(|_| (CWD, NULL.path))?,
            Named::Root => (CWD, c"/"),
        })
    }
}

static LEADS_TO: Witness = Witness::of("what the path leads to", "fstatat");

impl Named {
    /// Proof that a path leads to it.
    pub(super) fn proof(self) -> Proof {
        LEADS_TO.expects(match self {
            Named::File => "this program's executable",
            Named::Device => "device 1:3",
            Named::Root => "the root directory",
        })
    }
}

const PATH: Argument = Argument::at(1, "address of the path");

/// Shows what a path leads to, and expects that every call is given this very path.
pub(super) fn show_path(plan: &mut Plan, call: Sysno, (directory, name): (BorrowedFd<'_>, &CStr)) {
    let address = name.as_ptr().addr() as u64;
    plan.expect_argument(call, PATH, ArgumentValue::Always(address));
    let b: &mut Bencher = plan;
    let of = |directory, name: &CStr| statat(directory, name, AtFlags::empty());
    let is_same = |one: &Stat, path: &CStr| {
        of(CWD, path).is_ok_and(|other| (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino))
    };
    match of(directory, name) {
        Ok(found) if is_same(&found, c"/proc/self/exe") => {
            b.observe(&LEADS_TO, "this program's executable");
        }
        Ok(found) if is_same(&found, c"/") => b.observe(&LEADS_TO, "the root directory"),
        Ok(found) => {
            let device = format!("device {}:{}", major(found.st_rdev), minor(found.st_rdev));
            b.observe(&LEADS_TO, device);
        }
        Err(error) => b.unobserved(&LEADS_TO, error),
    }
}

static KIND: Witness = Witness::of("what the descriptor refers to", "fstat and /proc/self/fd");

/// What a descriptor refers to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Object {
    Pipe,
    FileInMemory,
    Zero,
}

impl Object {
    /// Proof that a descriptor refers to it.
    pub(super) fn proof(self) -> Proof {
        KIND.expects(match self {
            Object::Pipe => "pipe",
            Object::FileInMemory => "RegularFile /memfd:syscost (deleted)",
            Object::Zero => "CharacterDevice /dev/zero",
        })
    }
}

pub(super) fn show_kind(b: &mut Bencher, descriptor: BorrowedFd<'_>) {
    match kind_of(descriptor) {
        Ok(kind) => b.observe(&KIND, kind),
        Err(reason) => b.unobserved(&KIND, reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_devices_name_and_is_another_is_unsupported() {
        assert!(NULL.open().is_ok() && ZERO.open().is_ok());
        for path in [c"/dev/null", c"/"] {
            let other = Device { path, ..ZERO }.open();
            let is_refused = matches!(other, Err(Failure::Unsupported(_) | Failure::Failed(_)));
            assert!(is_refused, "{path:?}: {other:?}");
        }
    }
}
