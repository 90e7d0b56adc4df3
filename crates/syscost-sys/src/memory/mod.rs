//! Memory of a known size in pages of a known size, whose residence the kernel confirms.
#![allow(unsafe_code)] // slices of a mapping

mod allocator;
mod limit;
mod nodes;
mod pages;
mod smaps;

use std::time::{Duration, Instant};

use crate::{Unsupported, os, process};

pub use allocator::{Allocations, map_blocks_from};
pub use limit::{available_bytes, group_limit_bytes, machine_available_bytes};
pub use nodes::nodes;
pub use pages::Pages;
pub use smaps::Resident;

/// Up to this many bytes are taken without a check: reading what is available takes a millisecond,
/// as long as filling a quarter of this.
const UNASKED: usize = 2 << 20;

/// Bytes that are filled between two looks at the clock.
const STEP: usize = 32 << 20;

/// Private anonymous memory of this process. Unmapped when it goes out of scope.
#[derive(Debug)]
pub struct Memory {
    mapping: *mut u8,
    mapped: usize,
    start: *mut u8,
    bytes: usize,
    pages: Pages,
}

// SAFETY: the mapping is owned by this value alone, and may be used and unmapped by any one thread,
// wherever it was made.
unsafe impl Send for Memory {}

impl Memory {
    /// Allocates this many bytes, rounded up to whole pages of this size, every page of them written by the
    /// calling thread and confirmed to be resident in pages of this size.
    ///
    /// # Errors
    /// `Unsupported` with the reason when the machine has no such pages, when that would be more
    /// than half of the memory that is still available to this process, or when the kernel gives
    /// other pages.
    pub fn fill(bytes: usize, pages: Pages) -> Result<Self, Unsupported> {
        Self::reserve(bytes, pages)?.filled()
    }

    /// As
    /// [`Memory::fill`], but in small pages where the kernel gives no others, or not enough of them: [`Memory::pages`]
    /// says which.
    ///
    /// # Errors
    /// As [`Memory::fill`], except for a lack of such pages.
    pub fn fill_or_small(bytes: usize, pages: Pages) -> Result<Self, Unsupported> {
        if pages.bytes().is_ok() {
            let memory = Self::reserve(bytes, pages)?;
            memory.write_all(process::patience())?;
            if memory.resident()?.in_pages_bytes == memory.bytes {
                return Ok(memory);
            }
        }
        Self::fill(bytes, Pages::Small)
    }

    /// Writes every page of the memory and confirms that it is resident as requested.
    fn filled(self) -> Result<Self, Unsupported> {
        self.write_all(process::patience())?;
        let resident = self.resident()?;
        if self.pages != Pages::Small && resident.in_pages_bytes < self.bytes {
            let why = match process::has_huge_pages() {
                false => process::NO_HUGE_PAGES,
                true if process::has_no_huge_pages() => {
                    "transparent huge pages are disabled for this process"
                }
                true => "see /sys/kernel/mm/transparent_hugepage",
            };
            return Err(Unsupported::new(format!(
                "only {} of {} MiB came in pages of {}; {why}",
                resident.in_pages_bytes >> 20,
                self.bytes >> 20,
                self.pages.name(),
            )));
        }
        Ok(self)
    }

    /// As [`Memory::fill`], but nothing is touched yet: the kernel only knows which pages are wanted.
    pub fn reserve(bytes: usize, pages: Pages) -> Result<Self, Unsupported> {
        let page = pages.bytes()?;
        let bytes = bytes.next_multiple_of(page).max(page);
        enough_for(bytes)?;
        let small = Pages::Small.bytes()?;
        // Whole huge pages need an aligned place; 1 GiB pages are aligned by the kernel. An
        // inaccessible page on either side keeps it from merging this mapping with a neighbour,
        // since it reports residence only for whole mappings.
        let (fence, spare) = match pages {
            Pages::Small => (small, 0),
            Pages::Huge => (small, page),
            Pages::Gigantic => (0, 0),
        };
        let mapped = bytes + spare + 2 * fence;
        let mapping = os::map(mapped, pages == Pages::Gigantic)
            .map_err(|cause| Unsupported::new(format!("mmap of {} MiB: {cause}", mapped >> 20)))?;
        let first = mapping.addr() + fence;
        let start = mapping.wrapping_add(first.next_multiple_of(page) - mapping.addr());
        let memory = Self {
            mapping,
            mapped,
            start,
            bytes,
            pages,
        };
        if fence > 0 {
            os::forbid(mapping, fence)
                .and_then(|()| os::forbid(start.wrapping_add(bytes), fence))
                .map_err(|cause| Unsupported::new(format!("mprotect beside a mapping: {cause}")))?;
            os::advise_huge(start, bytes, pages == Pages::Huge)
                .map_err(|cause| Unsupported::new(format!("madvise for huge pages: {cause}")))?;
        }
        Ok(memory)
    }

    /// Start of the memory, aligned to its pages.
    pub fn start(&self) -> *mut u8 {
        self.start
    }

    /// Length of the memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The kind of pages that was requested.
    pub fn pages(&self) -> Pages {
        self.pages
    }

    /// Sets whether processes that are forked from now on get a copy of it. Without one a fork is
    /// faster, the more so the larger the memory; such a child must neither touch nor drop it.
    ///
    /// # Errors
    /// `Unsupported` where the kernel does not have this advice.
    pub fn copy_to_children(&self, copied: bool) -> Result<(), Unsupported> {
        os::advise_copying(self.start, self.bytes, copied)
            .map_err(|cause| Unsupported::new(format!("madvise for forks: {cause}")))
    }

    /// The content, as words.
    pub fn words(&mut self) -> &mut [u64] {
        // SAFETY: the mapping is ours alone, aligned to pages, and anonymous memory is initialised.
        unsafe { std::slice::from_raw_parts_mut(self.start.cast(), self.bytes / size_of::<u64>()) }
    }

    /// How much of it is resident, and how much of that in pages as requested.
    ///
    /// # Errors
    /// `Unsupported` where /proc/self/smaps cannot be read.
    pub fn resident(&self) -> Result<Resident, Unsupported> {
        smaps::resident(
            self.start.addr()..self.start.addr() + self.bytes,
            self.pages,
        )
    }

    /// How many of its bytes are resident in each kind of pages, the smallest first.
    pub fn resident_by_pages(&self) -> Result<[(Pages, usize); 3], Unsupported> {
        smaps::by_pages(self.start.addr()..self.start.addr() + self.bytes)
    }

    /// Writes a word of every page, or of as many pages as this time permits: in a virtual machine the host
    /// may have to find the memory first.
    fn write_all(&self, limit: Duration) -> Result<(), Unsupported> {
        let begun = Instant::now();
        let page = Pages::Small.bytes()?;
        for from in (0..self.bytes).step_by(STEP) {
            let length = STEP.min(self.bytes - from);
            let part = self.start.wrapping_add(from);
            // One call with the same effect. Before Linux 5.14 each page has to be written.
            if os::populate(part, length).is_err() {
                for offset in (0..length).step_by(page) {
                    // SAFETY: within the mapping, which nothing else refers to.
                    unsafe { part.add(offset).write_volatile(0) };
                }
            }
            if begun.elapsed() > limit {
                return Err(Unsupported::new(format!(
                    "after {} s only {} of {} MiB could be filled: memory is slow here, or busy; {}",
                    limit.as_secs_f64(),
                    (from + length) >> 20,
                    self.bytes >> 20,
                    process::LONGER
                )));
            }
        }
        Ok(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        os::unmap(self.mapping, self.mapped);
    }
}

/// Checks whether this much memory may be taken: no more than half of what is available, so that
/// other programs are not pushed out. Up to 2 MiB is always permitted; check the sum before taking
/// many such pieces.
///
/// # Errors
/// `Unsupported` with both numbers if not.
pub fn enough_for(bytes: usize) -> Result<(), Unsupported> {
    if bytes <= UNASKED {
        return Ok(());
    }
    match available_bytes() {
        Some(available) => half_of(available, bytes, "available to this process"),
        None => Ok(()),
    }
}

/// Checks whether this many bytes are no more than half of what is available; `there` says where.
fn half_of(available: u64, bytes: usize, there: &str) -> Result<(), Unsupported> {
    if available / 2 >= bytes as u64 {
        return Ok(());
    }
    Err(Unsupported::new(format!(
        "{} MiB of memory are {there}; twice {} MiB are wanted",
        available >> 20,
        bytes >> 20
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_is_resident_and_what_is_reserved_is_not() {
        let bytes = 8 << 20;
        let filled = or_skip!(Memory::fill(bytes, Pages::Small));
        let reserved = or_skip!(Memory::reserve(bytes, Pages::Small));
        let resident = filled.resident().unwrap();
        assert_eq!((resident.bytes, resident.in_pages_bytes), (bytes, bytes));
        assert_eq!(reserved.resident().unwrap().bytes, 0);
    }

    #[test]
    fn what_takes_longer_than_it_may_says_what_gives_it_longer() {
        let memory = or_skip!(Memory::reserve(2 * STEP, Pages::Small));
        let reason = memory.write_all(Duration::ZERO).unwrap_err().to_string();
        assert!(
            reason.contains("32 of 64 MiB") && reason.contains("--time-limit"),
            "{reason}"
        );
    }

    #[test]
    fn a_child_gets_a_copy_only_where_it_is_to() {
        let memory = or_skip!(
            Memory::fill(64 << 10, Pages::Small),
            "no memory of a known size here"
        );
        // The flags of the mapping that begins there: `dc` is "do not copy".
        let is_copied = || {
            let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap();
            let begin = format!("{:x}-", memory.start().addr());
            let ours = smaps.lines().skip_while(|line| !line.starts_with(&begin));
            let flags = ours.into_iter().find(|line| line.starts_with("VmFlags:"));
            !flags.unwrap().split_whitespace().any(|flag| flag == "dc")
        };
        assert!(is_copied());
        for copied in [false, true] {
            memory.copy_to_children(copied).unwrap();
            assert_eq!(is_copied(), copied);
        }
    }

    #[test]
    fn little_is_taken_without_asking() {
        assert_eq!(enough_for(UNASKED), Ok(()));
        if available_bytes().is_some() {
            assert!(enough_for(usize::MAX / 4).is_err());
        }
    }

    #[test]
    fn memory_is_in_the_pages_that_it_reports() {
        for pages in Pages::ALL {
            for fill in [Memory::fill, Memory::fill_or_small] {
                let Ok(mut memory) = fill(8 << 20, pages) else {
                    println!("skipped: {pages:?}");
                    continue;
                };
                assert_eq!(memory.resident().unwrap().in_pages_bytes, memory.bytes());
                assert!(memory.pages() == pages || memory.pages() == Pages::Small);
                assert!(memory.bytes() >= 8 << 20 && memory.words().len() == memory.bytes() / 8);
                assert!(memory.words().iter().all(|&word| word == 0));
            }
        }
    }

    #[test]
    fn too_much_is_refused() {
        match Memory::reserve(usize::MAX >> 8, Pages::Small) {
            Ok(_) => panic!("more than any machine has"),
            Err(reason) => assert!(reason.to_string().contains("MiB"), "{reason}"),
        }
    }
}
