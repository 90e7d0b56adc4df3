//! Shared: a file's content on its device.

use std::os::unix::fs::FileExt;

use syscost_harness::prelude::*;
use syscost_sys::files::{self, Buffer};

use super::space::{ALIGNMENT, Space};

/// The content on the device, and how it was read.
pub(super) struct Content {
    pub(super) bytes: Buffer,
    pub(super) source: &'static str,
}

/// Reads a file, whose length is a multiple of 4096 bytes, from its device: directly where the file
/// system can, otherwise after its pages have left the cache. A file in memory is read from memory.
pub(super) fn read_back(space: &Space, name: &str) -> Result<Content, Failure> {
    let failed = |cause| Failure::of("read back what was written", cause);
    let mut file = space.folder().open(name)?;
    let mut source = "read from memory";
    if !space.filesystem().is_in_memory() {
        files::drop_cache(&file)?;
        source = "read after the page cache was emptied";
        if let Ok(Some(_)) = files::direct_alignment(&file) {
            file = space.folder().open_direct(name)?;
            source = "read with O_DIRECT";
        }
    }
    let length = file.metadata().map_err(failed)?.len() as usize;
    let mut bytes = Buffer::new(length, ALIGNMENT);
    file.read_exact_at(&mut bytes, 0).map_err(failed)?;
    Ok(Content { bytes, source })
}
