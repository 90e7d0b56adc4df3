//! Reading past the page cache.

use std::fs::File;

use syscost_harness::prelude::*;

use super::{Cache, Kept};

/// A kept file that is open for direct I/O, none of whose pages was in the page cache then.
pub(in crate::fs) struct Direct<'k> {
    kept: &'k Kept,
    file: File,
    /// The same file, by which its pages are looked for.
    buffered: File,
}

impl<'k> Direct<'k> {
    /// Opens it for reads of this many bytes, at multiples of them.
    ///
    /// # Errors
    /// Unsupported where it is in memory only, or its file system takes no such reads.
    pub(in crate::fs) fn open(kept: &'k Kept, size: u64) -> Result<Self, Failure> {
        kept.space.has_storage()?;
        kept.file.allows_direct(size)?;
        let buffered = kept.file.open()?;
        Cache::of(&kept.space, &buffered)?.empty()?;
        let file = kept.file.open_direct()?;
        Ok(Self {
            kept,
            file,
            buffered,
        })
    }

    /// What is to be read.
    pub(in crate::fs) fn file(&self) -> &File {
        &self.file
    }

    /// Claims, once it was read, that it was read directly.
    pub(in crate::fs) fn claim(&self, b: &mut Bencher) -> Result<(), Failure> {
        let cache = Cache::of(&self.kept.space, &self.buffered)?;
        self.kept.file.claim_direct(b, &self.file, &cache)
    }
}
