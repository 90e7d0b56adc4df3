//! The objects of calls: devices, files, and sets of descriptors of which one is ready.

mod descriptors;

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{
    CWD, FileType, MemfdFlags, Mode, OFlags, fstat, ftruncate, major, memfd_create, minor, open,
};
use rustix::pipe::{PipeFlags, pipe_with};
use syscost_harness::prelude::*;

pub(super) use descriptors::{Descriptors, Kind, Ready, Row, Waiting};

/// A device of memory (major number 1, the kernel's Documentation/admin-guide/devices.txt).
#[derive(Debug, Clone, Copy)]
pub(super) struct Device {
    path: &'static CStr,
    minor: u32,
}

/// What is written to it is gone.
pub(super) const NULL: Device = Device {
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
    pub(super) fn open(self) -> Result<OwnedFd, Failure> {
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
    let file = memfd_create(c"syscost", MemfdFlags::CLOEXEC)
        .map_err(|error| Failure::of("make a file in memory", error))?;
    ftruncate(&file, 4096).map_err(|error| Failure::of("size a file in memory", error))?;
    Ok(file)
}

/// The reading and the writing end of a pipe.
pub(crate) fn pipe() -> Result<(OwnedFd, OwnedFd), Failure> {
    pipe_with(PipeFlags::CLOEXEC).map_err(|error| Failure::of("make a pipe", error))
}

/// A regular file that always exists, on whatever file system holds it: this program's own executable.
pub(super) struct OwnExecutable {
    directory: OwnedFd,
    name: CString,
}

/// Opens the directory of this program's executable.
pub(super) fn own_executable() -> Result<OwnExecutable, Failure> {
    let path = std::env::current_exe()
        .map_err(|error| Failure::of("find this program's executable", error))?;
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Failure::of(
            "find this program's executable",
            path.display(),
        ));
    };
    let directory = open(directory, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
        .map_err(|error| Failure::of(&format!("open {}", directory.display()), error))?;
    let name = CString::new(name.as_bytes())
        .map_err(|error| Failure::of("name this program's executable", error))?;
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
    ///
    /// # Errors
    /// As [`Device::open`].
    pub(super) fn place(&self, of: Named) -> Result<(BorrowedFd<'_>, &CStr), Failure> {
        Ok(match of {
            Named::File => (self.directory.as_fd(), &self.name),
            Named::Device => NULL.open().map(|_| (CWD, NULL.path))?,
            Named::Root => (CWD, c"/"),
        })
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
