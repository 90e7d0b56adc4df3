//! Anonymous memory, page by page.
#![allow(unsafe_code)] // pages of a mapping, and advice on them

use std::hint::black_box;
use std::ops::Range;

use rustix::mm::{Advice, MprotectFlags, madvise, mprotect};
use syscost_harness::prelude::*;

use super::pagemap::{self, PageCounts};

/// Anonymous memory of a number of pages, small or huge.
pub(crate) struct Area {
    memory: Memory,
    page: usize,
}

impl Area {
    /// An area without resident pages.
    pub(crate) fn reserve(bytes: usize, pages: Pages) -> Result<Self, Failure> {
        Ok(Self::from(Memory::reserve(bytes, pages)?))
    }

    /// An area whose pages are all resident.
    pub(crate) fn fill(bytes: usize, pages: Pages) -> Result<Self, Failure> {
        Ok(Self::from(Memory::fill(bytes, pages)?))
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    pub(crate) fn pages(&self) -> usize {
        self.memory.bytes() / self.page
    }

    pub(crate) fn page(&self, number: usize) -> *mut u8 {
        self.memory.start().wrapping_add(number * self.page)
    }

    #[inline(always)]
    pub(crate) fn write(&self, pages: Range<usize>) {
        assert!(pages.end <= self.pages());
        for number in pages {
            // SAFETY: within the mapping, to which there is no other reference.
            unsafe { self.page(number).write_volatile(1) };
        }
    }

    #[inline(always)]
    pub(crate) fn read(&self, pages: Range<usize>) {
        assert!(pages.end <= self.pages());
        for number in pages {
            // SAFETY: within the mapping.
            black_box(unsafe { self.page(number).read_volatile() });
        }
    }

    /// Gives advice on this many bytes, beginning with this page.
    #[inline(always)]
    pub(crate) fn advise(&self, from: usize, bytes: usize, advice: Advice) -> Result<(), Failure> {
        assert!(from * self.page + bytes <= self.memory.bytes());
        // SAFETY: within the mapping, whose content is not needed.
        unsafe { madvise(self.page(from).cast(), bytes, advice) }.tried("madvise")
    }

    #[inline(always)]
    pub(crate) fn protect(&self, access: MprotectFlags) -> Result<(), Failure> {
        // SAFETY: a whole mapping of ours, to which there are no references.
        unsafe { mprotect(self.memory.start().cast(), self.memory.bytes(), access) }
            .tried("mprotect")
    }

    /// Gives all its pages back to the kernel.
    pub(crate) fn forget(&self) -> Result<(), Failure> {
        self.advise(0, self.memory.bytes(), Advice::LinuxDontNeed)
    }

    /// The state of these pages, which must be small ones.
    pub(crate) fn look(&self, pages: Range<usize>) -> Result<PageCounts, Failure> {
        assert!(pages.end <= self.pages());
        pagemap::look(self.page(pages.start), pages.len() * self.page)
    }
}

impl From<Memory> for Area {
    fn from(memory: Memory) -> Self {
        Self {
            page: memory.pages().bytes().unwrap_or(memory.bytes()),
            memory,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_come_when_written_and_go_when_forgotten() {
        let area = or_skip!(Area::reserve(1 << 20, Pages::Small));
        let present = |area: &Area| match area.look(0..area.pages()) {
            Ok(seen) => Some(seen.present),
            Err(reason) => {
                println!("skipped: {reason}");
                None
            }
        };
        let Some(0) = present(&area) else { return };
        area.write(0..3);
        assert_eq!(present(&area), Some(3));
        area.read(0..5);
        assert_eq!(
            present(&area),
            Some(5),
            "those that were only read are zero pages"
        );
        assert!(area.memory().resident().unwrap().bytes <= 3 * area.page);
        area.write(0..area.pages());
        assert_eq!(present(&area), Some(area.pages()));
        area.forget().unwrap();
        assert_eq!(present(&area), Some(0));
    }
}
