//! Shared: directories, and what getdents64 returns of their entries.
#![allow(unsafe_code)] // close, checked

use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, IntoRawFd, OwnedFd};

use rustix::fs::{FileType, Mode, OFlags, RawDir, mkdirat, openat};
use rustix::io::Errno;
use syscost_harness::prelude::*;
use syscost_sys::raw::syscall1;
use syscost_sys::scratch::Folder;

use crate::syscall::{Bad, checked};

/// Size of the buffer of getdents64, in bytes: as in the C libraries.
pub(crate) const BUFFER_BYTES: usize = 32 << 10;

/// How a directory is opened for reading or syncing.
pub(crate) const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// The buffer of getdents64, with all of its pages resident.
pub(super) fn buffer() -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::new(u8::MAX); BUFFER_BYTES]
}

/// Calls `visit` with name and kind of each remaining entry of an open directory, except `.` and
/// `..`.
#[inline(always)]
pub(super) fn visit<E: From<Errno>>(
    directory: impl AsFd,
    buffer: &mut [MaybeUninit<u8>],
    mut visit: impl FnMut(&CStr, FileType) -> Result<(), E>,
) -> Result<(), E> {
    let mut entries = RawDir::new(directory, buffer);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            visit(name, entry.file_type())?;
        }
    }
    Ok(())
}

/// Opens a scratch folder once more, to be read from its beginning.
pub(crate) fn open_directory(folder: &Folder) -> Result<OwnedFd, Failure> {
    openat(folder.file(), c".", DIRECTORY, Mode::empty()).tried("open a directory")
}

pub(crate) fn make_directory(parent: &OwnedFd, name: &CStr) -> Result<OwnedFd, Failure> {
    mkdirat(parent, name, Mode::RWXU)
        .and_then(|()| openat(parent, name, DIRECTORY, Mode::empty()))
        .tried("make a directory")
}

/// Mode of new files: only the owner may read and write.
pub(crate) const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// How a new file is created: it must not exist yet.
pub(crate) const CREATE: OFlags = OFlags::WRONLY
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::CLOEXEC);

#[inline(always)]
pub(crate) fn create(directory: &OwnedFd, name: &CStr) -> Result<(), Bad> {
    close(openat(directory, name, CREATE, PRIVATE)?)
}

/// Closes a file or directory. For files whose close may fail: a file system may only then report
/// that a write failed.
#[inline(always)]
pub(crate) fn close(file: OwnedFd) -> Result<(), Bad> {
    // SAFETY: the descriptor is given up here and not used again.
    checked(unsafe { syscall1(Sysno::CLOSE, file.into_raw_fd() as usize) }).map(drop)
}

/// The name of the entry with this number. All names have the same length.
pub(crate) fn name(number: usize) -> CString {
    CString::new(format!("{PREFIX}{number:05}")).expect("letters and digits")
}

/// The number of an entry by its name; `None` if [`name`] did not make it.
pub(super) fn number(name: &CStr) -> Option<usize> {
    let digits = name.to_bytes().strip_prefix(PREFIX.as_bytes())?;
    let is_usual = digits.len() == 5 && digits.iter().all(u8::is_ascii_digit);
    let value = |digits: &[u8]| {
        digits
            .iter()
            .fold(0, |sum, digit| 10 * sum + usize::from(digit - b'0'))
    };
    is_usual.then(|| value(digits))
}

const PREFIX: &str = "entry";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        for count in [0, 7, 12_345] {
            assert_eq!(number(&name(count)), Some(count));
        }
        for none in [c"entry1", c"entry0000x", c"00001", c"entry000001"] {
            assert_eq!(number(none), None, "{none:?}");
        }
    }
}
