//! The objects of calls: devices, files, and sets of descriptors of which one is ready.

mod descriptors;

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{CWD, MemfdFlags, Mode, OFlags, ftruncate, memfd_create, open};
use rustix::pipe::{PipeFlags, pipe_with};
use syscost_harness::prelude::*;

pub(super) use descriptors::{Descriptors, Kind, Ready, Row, Waiting};

/// A device, open for reading and writing.
pub(super) fn device(path: &CStr) -> Result<OwnedFd, Failure> {
    open(path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())
        .map_err(|error| Failure::of(&format!("open {}", path.to_string_lossy()), error))
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
    pub(super) fn place(&self, of: Named) -> (BorrowedFd<'_>, &CStr) {
        match of {
            Named::File => (self.directory.as_fd(), &self.name),
            Named::Device => (CWD, c"/dev/null"),
            Named::Root => (CWD, c"/"),
        }
    }
}
