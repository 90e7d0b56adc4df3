//! Reading past the page cache.

use std::fs::File;

use rustix::io::{Errno, pread};
use syscost_harness::prelude::*;
use syscost_sys::files::{self, Alignment, Buffer};

use super::{ALIGNMENT, Cache, Kept};

/// Makes sure that direct I/O of this many bytes, at multiples of them, is possible with a file that
/// is open for it, and has several of them. What it asks for, where the kernel says; where it does
/// not, one read is tried, which may leave its pages in the page cache.
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

/// Reads the second block of this size. Why it is refused, if it is for its size or its place.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::space::tests::on_disk;

    #[test]
    fn a_read_tells_where_the_kernel_does_not_say() {
        let Some(space) = on_disk() else {
            return println!("skipped: no disk");
        };
        let written = space.file("tried", 1 << 20, 1).expect("a file");
        let Ok(file) = written.open_direct() else {
            return println!("skipped: no direct I/O here");
        };
        assert_eq!(try_direct(&file, 64 << 10), Ok(None));
        allowed_direct(&file, 64 << 10).expect("a multiple of any block");
        // No device has blocks this short; a file system that reads through its cache takes them.
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
