//! Shared: a page that two threads write into.
#![allow(unsafe_code)] // atomics in memory of our own

use std::sync::atomic::AtomicU64;

use syscost_harness::prelude::*;
use syscost_sys::memory::{Memory, Pages};

/// A page of words that several threads may use concurrently.
pub(super) struct Page(Memory);

// SAFETY: it gives out nothing but atomics.
unsafe impl Sync for Page {}

impl Page {
    /// A fresh page, first touched by the calling thread.
    pub(super) fn touched_here() -> Result<Self, Failure> {
        Ok(Self(Memory::fill(1, Pages::Small)?))
    }

    /// The word at this offset in bytes.
    pub(super) fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(size_of::<u64>()) && offset < self.0.bytes());
        // SAFETY: within the page, aligned, and only used as an atomic.
        unsafe { AtomicU64::from_ptr(self.0.start().add(offset).cast()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn words_are_as_far_apart_as_asked_and_keep_what_they_hold() {
        let page = match Page::touched_here() {
            Ok(page) => page,
            Err(reason) => return println!("skipped: {reason}"),
        };
        let (first, second) = (page.word(1024), page.word(1032));
        first.store(1, Ordering::Relaxed);
        second.store(2, Ordering::Relaxed);
        assert_eq!(
            (
                first.load(Ordering::Relaxed),
                second.as_ptr().addr() - first.as_ptr().addr()
            ),
            (1, 8)
        );
        assert!(page.word(0).as_ptr().addr().is_multiple_of(4096));
    }
}
