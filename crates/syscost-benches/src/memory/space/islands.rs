//! Pieces of anonymous memory, each a separate mapping.
#![allow(unsafe_code)] // mappings

use std::ptr;

use rustix::io::Errno;
use rustix::mm::{
    Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect, munmap,
};
use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::memory::enough_for;

use super::{maps, not_mapped, pagemap};

/// Pieces of private anonymous memory of the same length. Each is followed by an inaccessible page,
/// so that the kernel never merges two of them, nor one with another mapping.
pub(crate) struct Islands {
    start: *mut u8,
    count: usize,
    /// Length of one, in bytes.
    bytes: usize,
    /// Distance from one to the next, in bytes.
    stride: usize,
    /// How many, from the first, have been unmapped.
    gone: usize,
}

impl Islands {
    /// Creates this many islands of this many bytes each, a multiple of the page size. No page is
    /// resident yet.
    pub(crate) fn make(count: usize, bytes: usize) -> Result<Self, Failure> {
        let failed = |cause: Errno| not_mapped("map pieces of memory", cause);
        let stride = bytes + page_size();
        // Without a reservation for what is never touched; machines with strict overcommit make one
        // all the same.
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use.
        let start =
            unsafe { mmap_anonymous(ptr::null_mut(), count * stride, ProtFlags::empty(), flags) }
                .map_err(failed)?;
        let islands = Self {
            start: start.cast(),
            count,
            bytes,
            stride,
            gone: 0,
        };
        // SAFETY: the mapping is ours, and this changes no content.
        match unsafe { madvise(start, count * stride, Advice::LinuxNoHugepage) } {
            // A kernel without huge pages does not have this advice, nor need it.
            Ok(()) | Err(Errno::INVAL) => {}
            Err(cause) => return Err(failed(cause)),
        }
        for number in 0..count {
            islands
                .protect(number, MprotectFlags::READ | MprotectFlags::WRITE)
                .map_err(failed)?;
        }
        Ok(islands)
    }

    /// How many bytes of the first `count` are mapped with this protection.
    pub(crate) fn bytes_with(&self, rights: &str, count: usize) -> Result<usize, Failure> {
        let start = self.start.addr();
        maps::bytes_with(rights, start..start + count * self.stride)
    }

    pub(crate) fn island(&self, number: usize) -> *mut u8 {
        self.start.wrapping_add(number * self.stride)
    }

    /// Writes every page of the first `count` and returns how many pages are resident then.
    pub(crate) fn touch(&self, count: usize) -> Result<usize, Failure> {
        assert!(self.gone == 0 && count <= self.count);
        enough_for(count * self.bytes)?;
        for number in 0..count {
            let island = self.island(number);
            // SAFETY: a mapping of our own, whose content is not needed.
            let populated =
                unsafe { madvise(island.cast(), self.bytes, Advice::LinuxPopulateWrite) };
            if populated.is_err() {
                // Before Linux 5.14.
                for offset in (0..self.bytes).step_by(page_size()) {
                    // SAFETY: within the island.
                    unsafe { island.add(offset).write_volatile(1) };
                }
            }
        }
        self.present(count)
    }

    /// How many pages of the first `count` are resident.
    pub(crate) fn present(&self, count: usize) -> Result<usize, Failure> {
        Ok(pagemap::look(self.start, count * self.stride)?.present)
    }

    #[inline(always)]
    pub(crate) fn protect(&self, number: usize, access: MprotectFlags) -> Result<(), Errno> {
        assert!(number < self.count);
        // SAFETY: within the mapping; there are no references to it.
        unsafe { mprotect(self.island(number).cast(), self.bytes, access) }
    }

    /// Gives the pages of an island back to the kernel.
    #[inline(always)]
    pub(crate) fn forget(&self, number: usize) -> Result<(), Errno> {
        assert!(number < self.count);
        // SAFETY: as above.
        unsafe {
            madvise(
                self.island(number).cast(),
                self.bytes,
                Advice::LinuxDontNeed,
            )
        }
    }

    /// Unmaps the first `count`, which must not be touched any more.
    #[inline(always)]
    pub(crate) fn unmap(&mut self, count: usize) -> Result<(), Errno> {
        assert!(count <= self.count);
        for number in self.gone..count {
            // SAFETY: mapped by `make`, not unmapped yet, and there are no references to it.
            unsafe { munmap(self.island(number).cast(), self.bytes) }?;
            self.gone = number + 1;
        }
        Ok(())
    }
}

impl Drop for Islands {
    fn drop(&mut self) {
        // Where an island is gone, its place may belong to another mapping by now: only the page
        // after it is ours.
        for number in 0..self.gone {
            let guard = self.island(number).wrapping_add(self.bytes);
            // SAFETY: mapped by `make`, and nothing refers to it.
            let _ = unsafe { munmap(guard.cast(), self.stride - self.bytes) };
        }
        let left = (self.count - self.gone) * self.stride;
        if left > 0 {
            // SAFETY: as above.
            let _ = unsafe { munmap(self.island(self.gone).cast(), left) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::space::maps::mappings;

    #[test]
    fn each_is_a_mapping_of_its_own_until_it_is_unmapped() {
        let page = page_size();
        let mut islands = Islands::make(50, 2 * page).unwrap();
        let touched = or_skip!(islands.touch(20));
        assert_eq!(touched, 40);
        islands.forget(0).unwrap();
        assert_eq!(islands.present(20).unwrap(), 38);
        let lines = |of: &Islands| {
            let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
            let within = of.start.addr()..of.start.addr() + of.count * of.stride;
            let begins = |line: &&str| {
                let from = line.split('-').next().unwrap();
                within.contains(&usize::from_str_radix(from, 16).unwrap())
            };
            maps.lines().filter(begins).count()
        };
        assert_eq!(lines(&islands), 100, "islands and what lies between");
        islands.unmap(30).unwrap();
        assert_eq!(lines(&islands), 70);
        assert!(mappings().unwrap() >= 70);
    }
}
