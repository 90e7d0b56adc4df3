//! Calls relative to an open directory. None follows a link at the name it is given.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, Mode, OFlags, StatVfs, fstatvfs, mkdirat, openat, renameat, statvfs,
    unlinkat,
};

const HELD: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Opens the root directory, to go on from there.
pub(crate) fn root() -> io::Result<File> {
    Ok(openat(CWD, "/", HELD | OFlags::PATH, Mode::empty())?.into())
}

/// Opens a directory to go on from there, for which it need not be readable.
pub(crate) fn step_into(folder: &File, name: &OsStr) -> io::Result<File> {
    Ok(openat(folder, name, HELD | OFlags::PATH, Mode::empty())?.into())
}

/// Opens a directory so that it can be read and synced.
pub(crate) fn open_folder(folder: &File, name: &OsStr) -> io::Result<File> {
    Ok(openat(folder, name, HELD | OFlags::RDONLY, Mode::empty())?.into())
}

pub(crate) fn make_folder(folder: &File, name: &OsStr) -> io::Result<()> {
    Ok(mkdirat(folder, name, Mode::RWXU)?)
}

/// Creates a file that only its owner may use, open for reading and writing.
pub(crate) fn create_at(folder: &File, name: &OsStr) -> io::Result<File> {
    let new = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
    let flags = new | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?.into())
}

/// Opens an existing file with these further flags, for writing too if `write` is set.
pub(crate) fn open_at(folder: &File, name: &OsStr, write: bool, further: i32) -> io::Result<File> {
    let access = if write { OFlags::RDWR } else { OFlags::RDONLY };
    let fixed = OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let flags = access | fixed | OFlags::from_bits_retain(further as u32);
    Ok(openat(folder, name, flags, Mode::empty())?.into())
}

pub(crate) fn rename_at(folder: &File, from: &OsStr, to: &OsStr) -> io::Result<()> {
    Ok(renameat(folder, from, folder, to)?)
}

/// Removes what is no directory.
pub(crate) fn remove_file_at(folder: &File, name: &OsStr) -> io::Result<()> {
    Ok(unlinkat(folder, name, AtFlags::empty())?)
}

pub(crate) fn remove_folder_at(folder: &File, name: &OsStr) -> io::Result<()> {
    Ok(unlinkat(folder, name, AtFlags::REMOVEDIR)?)
}

/// The names of a directory's entries, without `.` and `..`.
pub(crate) fn names_in(folder: &File) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    // Opened anew: it may not be open for reading, and is read from its beginning.
    let again = openat(folder, ".", HELD | OFlags::RDONLY, Mode::empty())?;
    for entry in Dir::new(again)? {
        let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    Ok(names)
}

/// Size of the file system that a path is on, in bytes, and how many of them this user may still write.
pub(crate) fn room(path: &Path) -> io::Result<(u64, u64)> {
    Ok(bytes_of(&statvfs(path)?))
}

/// The same for an open file.
pub(crate) fn room_at(file: &File) -> io::Result<(u64, u64)> {
    Ok(bytes_of(&fstatvfs(file)?))
}

fn bytes_of(facts: &StatVfs) -> (u64, u64) {
    let bytes = |blocks: u64| blocks.saturating_mul(facts.f_frsize);
    (bytes(facts.f_blocks), bytes(facts.f_bavail))
}
