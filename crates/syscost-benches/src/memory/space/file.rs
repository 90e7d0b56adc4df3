//! The pages of a mapped file.
#![allow(unsafe_code)] // a mapping of a file of our own

use std::fs::{self, File};
use std::ops::Deref;
use std::ptr;

use rustix::mm::{
    Advice, MapFlags, MprotectFlags, MsyncFlags, ProtFlags, madvise, mmap, mprotect, msync, munmap,
};
use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::files::{self, Device};
use syscost_sys::scratch;

use super::{maps, pagemap};

/// A scratch file of this many pages, and a mapping of it.
pub(crate) struct FilePages {
    mapped: Mapped,
    file: File,
    /// Removed when this is dropped.
    _scratch: scratch::File,
}

/// A shared mapping of a whole file.
pub(crate) struct Mapped {
    start: *mut u8,
    pages: usize,
    page: usize,
}

impl FilePages {
    /// Writes the file, including to its device, and maps it.
    pub(crate) fn make(pages: usize) -> Result<Self, Failure> {
        let page = page_size();
        let scratch = scratch::filled("pages", (pages * page) as u64).map_err(Unsupported::from)?;
        let file = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(scratch.path())
            .tried("open the scratch file")?;
        Ok(Self {
            mapped: Mapped::of(&file, pages, ProtFlags::READ | ProtFlags::WRITE)?,
            file,
            _scratch: scratch,
        })
    }

    pub(crate) fn map(&self) -> Result<Mapped, Failure> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        Mapped::of(&self.file, self.mapped.pages, access)
    }

    pub(crate) fn device(&self) -> Result<Device, Unsupported> {
        Device::of(&self.file)
    }

    /// How many pages are in the page cache, by mincore.
    pub(crate) fn cached(&self) -> Result<usize, Failure> {
        Ok(files::resident_pages(&self.file)? as usize)
    }

    /// Evicts all pages from the page cache, and verifies it.
    pub(crate) fn drop_cache(&self) -> Result<(), Failure> {
        self.unmap_pages()?;
        match files::drop_clean_pages(&self.file)? {
            0 => Ok(()),
            left => Err(Failure::Refuted(format!(
                "{left} pages of the file stayed in the page cache"
            ))),
        }
    }
}

impl Deref for FilePages {
    type Target = Mapped;

    fn deref(&self) -> &Mapped {
        &self.mapped
    }
}

impl Mapped {
    /// A mapping of the first `pages` pages of a file of our own, with this protection.
    pub(crate) fn of(file: &File, pages: usize, access: ProtFlags) -> Result<Self, Failure> {
        let page = page_size();
        // SAFETY: a new mapping of a file of our own, which is not shortened.
        let start = unsafe {
            mmap(
                ptr::null_mut(),
                pages * page,
                access,
                MapFlags::SHARED,
                file,
                0,
            )
        }
        .tried("map the scratch file")?;
        Ok(Self {
            start: start.cast(),
            pages,
            page,
        })
    }

    pub(crate) fn pages(&self) -> usize {
        self.pages
    }

    /// How long a page is, in bytes.
    pub(crate) fn page_bytes(&self) -> usize {
        self.page
    }

    #[inline(always)]
    pub(crate) fn read(&self, number: usize) -> u8 {
        assert!(number < self.pages);
        // SAFETY: within the mapping of the file, which keeps its length.
        unsafe { self.start.add(number * self.page).read_volatile() }
    }

    /// The sum of the bytes that [`Mapped::read`] returns for all pages.
    pub(crate) fn sum(&self) -> u64 {
        (0..self.pages)
            .map(|number| u64::from(self.read(number)))
            .sum()
    }

    /// Reads all of a page: the sum of its words of eight bytes.
    #[inline(always)]
    pub(crate) fn read_words(&self, number: usize) -> u64 {
        assert!(number < self.pages);
        let first = self.start.wrapping_add(number * self.page).cast::<u64>();
        (0..self.page / size_of::<u64>()).fold(0, |sum: u64, word| {
            // SAFETY: within the mapping of the file, which keeps its length; pages are aligned.
            sum.wrapping_add(u64::from_le(unsafe { first.add(word).read_volatile() }))
        })
    }

    pub(crate) fn write(&self, number: usize, value: u8) {
        assert!(number < self.pages);
        // SAFETY: as above.
        unsafe { self.start.add(number * self.page).write_volatile(value) };
    }

    /// How many bytes of the pages in this process's page tables have not been written back yet.
    pub(crate) fn dirty_bytes(&self) -> Result<usize, Failure> {
        maps::dirty_bytes(self.start.addr())
    }

    /// Writes the first `bytes` bytes back, or requests that.
    #[inline(always)]
    pub(crate) fn sync(&self, bytes: usize, flags: MsyncFlags) -> Result<(), Failure> {
        assert!(bytes <= self.pages * self.page);
        // SAFETY: within the mapping.
        unsafe { msync(self.start.cast(), bytes, flags) }.tried("msync")
    }

    /// Forbids every second page, so that each other one is a separate mapping.
    pub(crate) fn part(&self) -> Result<(), Failure> {
        for number in (1..self.pages).step_by(2) {
            let page = self.start.wrapping_add(number * self.page);
            // SAFETY: within the mapping; there are no references to it.
            unsafe { mprotect(page.cast(), self.page, MprotectFlags::empty()) }
                .tried("forbid a page")?;
        }
        Ok(())
    }

    /// Removes all pages from this process's page tables; the page cache keeps them.
    pub(crate) fn unmap_pages(&self) -> Result<(), Failure> {
        self.advise(Advice::LinuxDontNeed)
    }

    pub(crate) fn advise(&self, advice: Advice) -> Result<(), Failure> {
        // SAFETY: the mapping is of a file, which keeps the content.
        unsafe { madvise(self.start.cast(), self.pages * self.page, advice) }.tried("madvise")
    }

    /// How many pages are in this process's page tables.
    pub(crate) fn mapped(&self) -> Result<usize, Failure> {
        Ok(pagemap::look(self.start, self.pages * self.page)?.present)
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: mapped by `of`, and nothing refers to it any more.
        let _ = unsafe { munmap(self.start.cast(), self.pages * self.page) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_leave_the_tables_and_the_cache_and_come_back() {
        let file = or_skip!(FilePages::make(64));
        assert_eq!(file.cached().unwrap(), 64, "just written");
        file.read(7);
        file.unmap_pages().unwrap();
        match file.mapped() {
            Ok(mapped) => assert_eq!(mapped, 0),
            Err(reason) => println!("skipped: {reason}"),
        }
        assert_eq!(file.cached().unwrap(), 64);
        or_skip!(file.device());
        file.drop_cache().unwrap();
        file.advise(Advice::Random).unwrap();
        file.read(7);
        let cached = file.cached().unwrap();
        assert!((1..64).contains(&cached), "{cached}");
    }

    #[test]
    fn a_parted_file_is_mapped_page_by_page() {
        let file = or_skip!(FilePages::make(64));
        file.part().unwrap();
        file.unmap_pages().unwrap();
        file.read(10);
        match file.mapped() {
            Ok(mapped) => assert_eq!(mapped, 1),
            Err(reason) => println!("skipped: {reason}"),
        }
    }
}
