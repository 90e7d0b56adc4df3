//! Shared: a page that two threads write into.
#![allow(unsafe_code)] // atomics in memory of our own

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use syscost_harness::prelude::*;

pub(super) static WRITTEN: Witness = Witness::of("words of the page that are written", "memory");

/// A page of words that several threads may use concurrently.
pub(super) struct Page(Memory);

// SAFETY: it gives out nothing but atomics.
unsafe impl Sync for Page {}

impl Page {
    /// A fresh page, first touched by the calling thread.
    pub(super) fn touched_here() -> Result<Self, Failure> {
        Ok(Self(Memory::fill(1, Pages::Small)?))
    }

    /// The offsets in bytes of the words that are not zero, as they were in the beginning.
    pub(super) fn written(&self) -> String {
        let offsets = (0..self.0.bytes()).step_by(size_of::<u64>());
        let written = offsets.filter(|offset| self.word(*offset).load(Relaxed) != 0);
        let written: Vec<String> = written.map(|offset| offset.to_string()).collect();
        written.join(" and ")
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

    #[test]
    fn words_are_as_far_apart_as_asked_and_keep_what_they_hold() {
        let page = or_skip!(Page::touched_here());
        let (first, second) = (page.word(1024), page.word(1032));
        first.store(1, Relaxed);
        second.store(2, Relaxed);
        assert_eq!(
            (
                first.load(Relaxed),
                second.as_ptr().addr() - first.as_ptr().addr()
            ),
            (1, 8)
        );
        assert_eq!(page.written(), "1024 and 1032");
        assert!(page.word(0).as_ptr().addr().is_multiple_of(4096));
    }
}
