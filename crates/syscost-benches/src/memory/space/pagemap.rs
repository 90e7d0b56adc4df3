//! The state of pages by /proc/self/pagemap, without privilege: it hides where they are, not
//! whether they are present.

use std::fs::File;
use std::os::unix::fs::FileExt;

use rustix::param::page_size;
use syscost_harness::prelude::*;

/// Bits of an entry, as the kernel's documentation numbers them.
const PRESENT: u64 = 1 << 63;
const EXCLUSIVE: u64 = 1 << 56;
const OF_FILE: u64 = 1 << 61;

/// Counts of a piece's pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PageCounts {
    pub(crate) present: usize,
    /// Pages that are also mapped nowhere else, in no process.
    pub(crate) exclusive: usize,
    /// Pages of the page cache.
    pub(crate) of_file: usize,
}

/// Reads the state of whole pages.
pub(crate) fn look(start: *const u8, bytes: usize) -> Result<PageCounts, Failure> {
    look_in("/proc/self", start, bytes)
}

/// As [`look`], for another process, given by its folder in /proc: a child.
pub(crate) fn look_in(folder: &str, start: *const u8, bytes: usize) -> Result<PageCounts, Failure> {
    let path = format!("{folder}/pagemap");
    let page = page_size();
    let mut entries = vec![0; bytes / page * 8];
    // Opened each time, so that a forked copy of this process sees its own.
    File::open(&path)
        .and_then(|file| file.read_exact_at(&mut entries, (start.addr() / page * 8) as u64))
        .map_err(|cause| Failure::Unsupported(format!("reading {path}: {cause}")))?;
    let (entries, _) = entries.as_chunks::<8>();
    let with = |bits: u64| {
        let has = |entry: &&[u8; 8]| u64::from_le_bytes(**entry) & bits == bits;
        entries.iter().filter(has).count()
    };
    Ok(PageCounts {
        present: with(PRESENT),
        exclusive: with(PRESENT | EXCLUSIVE),
        of_file: with(PRESENT | OF_FILE),
    })
}
