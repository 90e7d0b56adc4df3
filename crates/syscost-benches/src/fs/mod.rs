//! File systems: reading, writing, names, and the storage below.
//!
//! Reading, writing and naming files, in the page cache and on the device below. The directory
//! decides the file system: `--dir` measures others, side by side.
//!
//! ## First look
//! - `fs.read{access=random,cache=warm,size=4K}`: a read that the page cache answers.
//! - `fs.read{access=random,cache=direct,size=4K}`: the same from the device.
//! - `fs.sync{via=fsync}`: until written data are safe.
//! - `fs.metadata{op=create,sync=none}`: making a file.
//!
//! ## Benchmarks
//! `read` to `read_ahead` are about reading, by pread, mmap and io_uring; `write`, `sync`, `copy`
//! and `fallocate` about writing; `metadata`, `readdir`, `small_file` and `lock` about names.
//! `cache_size` finds how much the page cache holds, `contention` and its law many processes at
//! once. `nfs`, `nfs_mount` and `remote` need a server.
//!
//! ## Disturbances
//! Everything else that uses the device, a drive's own cache, and journals that commit at their
//! own pace. `cache=cold` needs pages to be evicted, which other programs' maps can prevent;
//! `cache=direct` is the device without the page cache.

mod blocks;
mod cache_size;
mod contention;
mod contention_law;
mod copy;
pub(crate) mod entries;
mod fallocate;
pub(crate) mod inodes;
mod lock;
mod metadata;
#[cfg(feature = "nfs")]
mod nfs;
#[cfg(feature = "nfs")]
mod nfs_mount;
mod overwrite;
mod pool;
mod read;
mod read_ahead;
mod read_bandwidth;
mod read_mmap;
mod read_uring;
mod readdir;
mod reader;
#[cfg(feature = "nfs")]
mod remote;
mod small_file;
pub(crate) mod space;
mod sync;
#[cfg(test)]
mod tests;
mod transfer;
mod waits;
mod write;

use std::fs::{File, Metadata};

use syscost_harness::prelude::*;
use syscost_sys::files::{self, Filesystem};

pub(crate) use space::claim_flag;
pub(crate) use waits::{MAX_JOURNAL, MAX_MOVED, claim_device_moved};

pub(super) const GROUP: Group = group! {
    fs: "reading, writing and naming files, cached and not",
    read,
    read_bandwidth,
    read_mmap,
    read_uring,
    read_ahead,
    write,
    sync,
    copy,
    fallocate,
    metadata,
    readdir,
    small_file,
    lock,
    cache_size,
    contention,
    contention_law,
    #[cfg(feature = "nfs")]
    nfs,
    #[cfg(feature = "nfs")]
    nfs_mount,
    #[cfg(feature = "nfs")]
    remote,
};

/// The labels of the directories in which files are measured.
fn labels(here: &Testbed) -> impl Iterator<Item = String> + Clone {
    let directories = here.targets.directories.iter();
    directories.map(|directory| directory.label.clone())
}

fn facts(file: &File) -> Result<Metadata, Failure> {
    file.metadata().tried("fstat")
}

/// The file system of the directory of this label; `None` if it cannot be looked up.
fn filesystem(here: &Testbed, label: &str) -> Option<Filesystem> {
    let directory = here.targets.directory(label).ok()?;
    files::filesystem(&directory.path).ok()
}
