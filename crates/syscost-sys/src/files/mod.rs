//! Files as the kernel sees them: how much of one is in the page cache, whether it is read
//! directly, which device it is on, and content that says where it belongs.

mod buffer;
pub mod caches;
mod device;
mod filesystem;
mod mountstats;
pub mod stamp;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::thread;
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};

use crate::{SystemError, Unsupported, os};

pub use buffer::Buffer;
pub use device::{Device, Moved};
pub use filesystem::{Filesystem, filesystem, filesystem_of, mount_option};
pub use mountstats::{NfsMount, OperationCounts};

/// What the page cache holds of a file, in pages: cachestat(2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cached {
    /// Pages in the cache.
    pub pages: u64,
    /// Pages that are not written back yet.
    pub dirty: u64,
    /// Pages that are being written back.
    pub writeback: u64,
}

/// What direct I/O asks of a caller, in bytes: statx(2) with STATX_DIOALIGN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alignment {
    /// Alignment of the memory that is read to or written from.
    pub memory: usize,
    /// Alignment of the position in the file, and of the length.
    pub offset: usize,
}

/// An empty file in memory, which is gone with its last descriptor; `name` is what /proc calls it. Programs
/// that are started do not inherit it.
///
/// # Errors
/// When there is no memory, or no descriptor, for it.
pub fn in_memory(name: &str) -> io::Result<File> {
    Ok(memfd_create(name, MemfdFlags::CLOEXEC)?.into())
}

/// The last bytes of a file, at most this many.
pub fn end_of(file: &mut File, most: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What the page cache holds of a file. On overlayfs the result is always empty: the cached pages
/// are those of the file below.
///
/// # Errors
/// Where the kernel has no such call (before Linux 6.5).
pub fn cachestat(file: &File) -> Result<Cached, Unsupported> {
    os::cachestat(file).map_err(|cause| match os::is_absent(&cause) {
        true => Unsupported::new("cachestat needs Linux 6.5"),
        false => Unsupported::new(format!("cachestat: {cause}")),
    })
}

/// How many pages of a file are in the page cache, by mincore(2) of a mapping that touches none.
///
/// # Errors
/// When the file cannot be mapped.
pub fn resident_pages(file: &File) -> Result<u64, SystemError> {
    os::resident_pages(file).map_err(|cause| SystemError::new("mincore", "the file", cause))
}

/// A file's extents on its device, by fiemap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extents {
    /// Bytes of the file that have a place on the device, or will have.
    pub mapped: u64,
    /// Bytes whose place on the device another file shares: a reflink, or a snapshot.
    pub shared: u64,
}

/// The extents of a file on its device, and how much of them it shares.
///
/// # Errors
/// Where the file system does not say: it needs the ioctl FS_IOC_FIEMAP.
pub fn extents(file: &File) -> Result<Extents, Unsupported> {
    os::extents(file).map_err(|cause| Unsupported::new(format!("ioctl FS_IOC_FIEMAP: {cause}")))
}

/// How often to retry while pages are still being read in: they stay in the cache until they have arrived.
const MAX_TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(1);

/// Evicts a file of our own from the page cache: writes it back, then does as [`drop_clean_pages`].
///
/// # Errors
/// When it cannot be written back, or pages stay: a file system in memory, or pages that a process
/// has mapped.
pub fn drop_cache(file: &File) -> Result<(), SystemError> {
    file.sync_data()
        .map_err(|cause| SystemError::new("fdatasync", "the file", cause))?;
    match drop_clean_pages(file)? {
        0 => Ok(()),
        left => {
            let cause = io::Error::other(format!("{left} of its pages stayed in the page cache"));
            Err(SystemError::new("posix_fadvise", "the file", cause))
        }
    }
}

/// Evicts those pages of a file from the page cache that are written back already, and returns how
/// many are left by mincore(2) or cachestat(2), whichever counts more: 0, or what cannot be evicted.
/// mincore does not count pages that are still being read in, cachestat nothing on overlayfs. If
/// pages stay and [`caches::permit_dropping`] was called, the whole system's cache is emptied.
///
/// # Errors
/// When the kernel refuses the advice, or does not say what is left.
pub fn drop_clean_pages(file: &File) -> Result<u64, SystemError> {
    let mut left = 0;
    for _ in 0..MAX_TRIES {
        os::forget_cached(file)
            .map_err(|cause| SystemError::new("posix_fadvise", "the file", cause))?;
        let before = std::mem::replace(&mut left, pages_left(file)?);
        if left == 0 {
            break;
        }
        // The first attempt may be too early for pages just read by this CPU.
        if before != 0 {
            thread::sleep(PAUSE);
        }
    }
    if left != 0 && caches::is_dropping_permitted() {
        caches::drop_all()?;
        left = pages_left(file)?;
    }
    Ok(left)
}

fn pages_left(file: &File) -> Result<u64, SystemError> {
    let counted = cachestat(file).map_or(0, |cached| cached.pages);
    Ok(resident_pages(file)?.max(counted))
}

/// The alignment that direct I/O requires for this file; `None` where its file system has none, and
/// serves O_DIRECT from the cache.
///
/// # Errors
/// Where the kernel does not say (before Linux 6.1).
pub fn direct_alignment(file: &File) -> Result<Option<Alignment>, Unsupported> {
    os::direct_alignment(file)
        .map_err(|cause| Unsupported::new(format!("statx of STATX_DIOALIGN: {cause}")))
}

/// Whether a file is open with O_DIRECT, by F_GETFL.
///
/// # Errors
/// When the kernel does not say.
pub fn is_direct(file: &File) -> Result<bool, SystemError> {
    os::is_direct(file).map_err(|cause| SystemError::new("fcntl F_GETFL", "the file", cause))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::fs::OpenOptionsExt;

    use super::*;

    /// A folder beside this program, which lies on a disk; that for temporary files may be in memory.
    fn folder() -> tempfile::TempDir {
        let program = std::env::current_exe().expect("a path");
        tempfile::tempdir_in(program.parent().expect("a folder")).expect("a folder")
    }

    #[test]
    fn both_witnesses_see_what_is_cached() {
        let folder = folder();
        let path = folder.path().join("file");
        let mut file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
            .unwrap();
        file.write_all(&vec![7; 1 << 20]).unwrap();
        let pages = or_skip!(resident_pages(&file), "no mincore here");
        assert_eq!(pages, (1 << 20) / 4096_u64.max(page_bytes()));
        or_skip!(drop_cache(&file));
        assert_eq!(resident_pages(&file).unwrap(), 0);
        match cachestat(&file) {
            Ok(cached) => assert_eq!((cached.pages, cached.dirty), (0, 0)),
            Err(reason) => println!("skipped: {reason}"),
        }
        let mut file = File::open(&path).unwrap();
        file.read_exact(&mut [0; 100]).unwrap();
        assert!(resident_pages(&file).unwrap() > 0);
        assert!(!is_direct(&file).unwrap());
    }

    #[test]
    fn a_file_shares_nothing_until_it_is_cloned() {
        let folder = folder();
        let path = folder.path().join("file");
        std::fs::write(&path, vec![7; 1 << 20]).unwrap();
        let file = File::open(&path).unwrap();
        file.sync_all().unwrap();
        match extents(&file) {
            Ok(extents) => assert_eq!((extents.mapped, extents.shared), (1 << 20, 0)),
            Err(reason) => println!("skipped: {reason}"),
        }
    }

    fn page_bytes() -> u64 {
        os::page_size() as u64
    }

    #[test]
    fn a_direct_read_leaves_nothing_in_the_cache() {
        let folder = folder();
        let path = folder.path().join("file");
        std::fs::write(&path, vec![7; 1 << 16]).unwrap();
        let file = File::open(&path).unwrap();
        let alignment = direct_alignment(&file).ok().flatten();
        let alignment = or_skip!(alignment.ok_or("no direct I/O here"));
        drop_cache(&file).unwrap();
        let mut options = File::options();
        options.read(true).custom_flags(os::DIRECT);
        let mut direct = options.open(&path).unwrap();
        assert!(is_direct(&direct).unwrap());
        let mut buffer = Buffer::new(4096, alignment.memory);
        direct.read_exact(&mut buffer).unwrap();
        assert!(buffer.iter().all(|byte| *byte == 7));
        assert_eq!(resident_pages(&file).unwrap(), 0);
    }
}
