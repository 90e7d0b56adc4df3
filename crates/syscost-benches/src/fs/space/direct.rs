//! Reading with direct I/O.

use std::fs::File;

use rustix::io::{Errno, pread};
use syscost_harness::prelude::*;
use syscost_sys::files::{self, Alignment, Buffer};

use super::{ALIGNMENT, Cache, Kept};

/// Checks that direct I/O of this many bytes, at multiples of them, is possible with a file that
/// is open for it and is several times as long. Returns the required alignment, where the kernel
/// reports it; where it does not, one read is tried, which may leave pages in the page cache.
///
/// # Errors
/// Unsupported where it is not possible.
pub(in crate::fs) fn allowed_direct(file: &File, size: u64) -> Result<Option<Alignment>, Failure> {
    let alignment = files::direct_alignment(file).ok().flatten();
    let refused = match alignment {
        Some(alignment) => {
            let least = alignment.offset as u64;
            let refused = !size.is_multiple_of(least);
            refused.then(|| format!("direct I/O takes multiples of {least} bytes here"))
        }
        None => try_direct(file, size)?,
    };
    match refused {
        Some(reason) => Err(Failure::Unsupported(reason)),
        None => Ok(alignment),
    }
}

/// Reads the second block of this size. Returns the error, if it is about the size or the alignment.
fn try_direct(file: &File, size: u64) -> Result<Option<String>, Failure> {
    let mut buffer = Buffer::new(size as usize, ALIGNMENT);
    match pread(file, &mut buffer[..], size) {
        Ok(_) => Ok(None),
        Err(cause @ Errno::INVAL) => Ok(Some(format!(
            "direct I/O takes no {size} bytes at multiples of them here: {cause}"
        ))),
        Err(cause) => Err(Failure::of(
            &format!("pread of {size} bytes, directly"),
            cause,
        )),
    }
}

/// A kept file that is open for direct I/O, and none of whose pages was in the page cache when it was opened.
pub(in crate::fs) struct Direct<'k> {
    kept: &'k Kept,
    file: File,
    /// Another descriptor of the file, by which its pages in the cache are counted.
    buffered: File,
}

impl<'k> Direct<'k> {
    /// Opens it for reads of this many bytes, at multiples of them.
    ///
    /// # Errors
    /// Unsupported where it exists only in memory, or its file system refuses such reads.
    pub(in crate::fs) fn open(kept: &'k Kept, size: u64) -> Result<Self, Failure> {
        kept.space.has_storage()?;
        let file = kept.file.open_direct()?;
        allowed_direct(&file, size)?;
        let buffered = kept.file.open()?;
        Cache::of(&kept.space, &buffered)?.empty()?;
        Ok(Self {
            kept,
            file,
            buffered,
        })
    }

    /// The descriptor to read from.
    pub(in crate::fs) fn file(&self) -> &File {
        &self.file
    }

    /// Claims, after reading, that the reads were direct.
    pub(in crate::fs) fn claim(&self, b: &mut Bencher) -> Result<(), Failure> {
        let cache = Cache::of(&self.kept.space, &self.buffered)?;
        self.kept.file.claim_direct(b, &self.file, &cache)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::space::tests::on_disk;

    #[test]
    fn a_read_decides_where_the_kernel_does_not_say() {
        let Some(space) = on_disk() else {
            return println!("skipped: no disk");
        };
        let written = space.file("tried", 1 << 20, 1).expect("a file");
        let Ok(file) = written.open_direct() else {
            return println!("skipped: no direct I/O here");
        };
        assert_eq!(try_direct(&file, 64 << 10), Ok(None));
        allowed_direct(&file, 64 << 10).expect("a multiple of any block");
        // No device has blocks this short; a file system that reads through its cache accepts them.
        if let Ok(Some(_)) = files::direct_alignment(&file) {
            let tried = try_direct(&file, 100).expect("it is refused for its size");
            assert!(tried.is_some_and(|reason| reason.contains("100 bytes")));
            let refused = allowed_direct(&file, 100);
            assert!(
                matches!(refused, Err(Failure::Unsupported(_))),
                "{refused:?}"
            );
        }
    }
}
