//! Memory of a known size in pages of a known size, whose residence the kernel confirms.
#![allow(unsafe_code)] // slices of a mapping

mod allocator;
mod limit;
mod nodes;
mod pages;
mod smaps;

use std::time::{Duration, Instant};

use crate::{Unsupported, os};

pub use allocator::map_blocks_from;
pub use limit::{available_bytes, group_limit_bytes, machine_available_bytes};
pub use nodes::nodes;
pub use pages::Pages;
pub use smaps::Resident;

/// How long memory may take to be filled. In a virtual machine the host may have to find it first.
const PATIENCE: Duration = Duration::from_secs(6);

/// So few bytes are taken without asking: to read what is available takes a millisecond, as long as filling a quarter of this.
const UNASKED: usize = 2 << 20;

/// So much is filled between two looks at the clock, in bytes.
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

// SAFETY: the mapping belongs to nobody else, and may be used and unmapped by any one thread, wherever it was made.
unsafe impl Send for Memory {}

impl Memory {
    /// This many bytes, rounded up to whole pages of this size, every page of them written by the
    /// calling thread and confirmed to be resident in pages of this size.
    ///
    /// # Errors
    /// `Unsupported` with the reason when the machine has no such pages, when that would be more than half of the memory
    /// that is still available to this process, or when the kernel gives other pages.
    pub fn fill(bytes: usize, pages: Pages) -> Result<Self, Unsupported> {
        Self::reserve(bytes, pages)?.filled()
    }

    /// The same in small pages where the kernel gives no others, or not this many: [`Memory::pages`] tells.
    ///
    /// # Errors
    /// As [`Memory::fill`], but for that.
    pub fn fill_or_small(bytes: usize, pages: Pages) -> Result<Self, Unsupported> {
        if pages.bytes().is_ok() {
            let memory = Self::reserve(bytes, pages)?;
            memory.write_all()?;
            if memory.resident()?.in_pages_bytes == memory.bytes {
                return Ok(memory);
            }
        }
        Self::fill(bytes, Pages::Small)
    }

    /// The same with every page written and confirmed.
    fn filled(self) -> Result<Self, Unsupported> {
        self.write_all()?;
        let resident = self.resident()?;
        if self.pages != Pages::Small && resident.in_pages_bytes < self.bytes {
            return Err(Unsupported::new(format!(
                "only {} of {} MiB came in pages of {}; see /sys/kernel/mm/transparent_hugepage",
                resident.in_pages_bytes >> 20,
                self.bytes >> 20,
                self.pages.name(),
            )));
        }
        Ok(self)
    }

    /// The same, of which nothing is touched yet: the kernel is only told which pages it is to have.
    ///
    /// # Errors
    /// As [`Memory::fill`].
    pub fn reserve(bytes: usize, pages: Pages) -> Result<Self, Unsupported> {
        let page = pages.bytes()?;
        let bytes = bytes.next_multiple_of(page).max(page);
        enough_for(bytes)?;
        let small = Pages::Small.bytes()?;
        // Whole huge pages need an aligned place; the kernel gives one to those it was asked for by name. A closed page on either side keeps
        // it from joining this mapping with a neighbour, for it tells residence of whole mappings only.
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

    /// Where it begins: aligned to its pages.
    pub fn start(&self) -> *mut u8 {
        self.start
    }

    /// How long it is, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The pages it was asked in.
    pub fn pages(&self) -> Pages {
        self.pages
    }

    /// Whether processes that are forked from now on get a copy of it. Without one a fork is faster, the more so the larger it is; such a child must neither
    /// touch nor drop it.
    ///
    /// # Errors
    /// `Unsupported` where the kernel knows no such advice.
    pub fn copy_to_children(&self, copied: bool) -> Result<(), Unsupported> {
        os::advise_copying(self.start, self.bytes, copied)
            .map_err(|cause| Unsupported::new(format!("madvise for forks: {cause}")))
    }

    /// Its content.
    pub fn words(&mut self) -> &mut [u64] {
        // SAFETY: the mapping is ours alone, aligned to pages, and anonymous memory is initialised.
        unsafe { std::slice::from_raw_parts_mut(self.start.cast(), self.bytes / size_of::<u64>()) }
    }

    /// How much of it is resident, and how much of that in pages as asked.
    ///
    /// # Errors
    /// `Unsupported` where /proc/self/smaps cannot be read.
    pub fn resident(&self) -> Result<Resident, Unsupported> {
        smaps::resident(
            self.start.addr()..self.start.addr() + self.bytes,
            self.pages,
        )
    }

    /// Writes a word of every page, or of as many as can be in [`PATIENCE`].
    fn write_all(&self) -> Result<(), Unsupported> {
        let begun = Instant::now();
        let page = Pages::Small.bytes()?;
        for from in (0..self.bytes).step_by(STEP) {
            let length = STEP.min(self.bytes - from);
            let part = self.start.wrapping_add(from);
            // As if every page were written, but in one call. Before Linux 5.14 they have to be written indeed.
            if os::populate(part, length).is_err() {
                for offset in (0..length).step_by(page) {
                    // SAFETY: within the mapping, which nothing else refers to.
                    unsafe { part.add(offset).write_volatile(0) };
                }
            }
            if begun.elapsed() > PATIENCE {
                return Err(Unsupported::new(format!(
                    "after {} s only {} of {} MiB could be filled: memory is slow here, or busy",
                    PATIENCE.as_secs(),
                    (from + length) >> 20,
                    self.bytes >> 20
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

/// Whether so much may be taken: no more than half of what is available, so that nobody else is pushed out. 2 MiB or less always may; whoever takes many such
/// pieces asks for their sum.
///
/// # Errors
/// `Unsupported` with both numbers when it may not.
pub fn enough_for(bytes: usize) -> Result<(), Unsupported> {
    if bytes <= UNASKED {
        return Ok(());
    }
    match available_bytes() {
        Some(available) => half_of(available, bytes, "available to this process"),
        None => Ok(()),
    }
}

/// Whether so much is no more than half of what there is, in bytes; `there` says where.
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
        let (filled, reserved) = match (
            Memory::fill(bytes, Pages::Small),
            Memory::reserve(bytes, Pages::Small),
        ) {
            (Ok(filled), Ok(reserved)) => (filled, reserved),
            (Err(reason), _) | (_, Err(reason)) => return println!("skipped: {reason}"),
        };
        let resident = filled.resident().unwrap();
        assert_eq!((resident.bytes, resident.in_pages_bytes), (bytes, bytes));
        assert_eq!(reserved.resident().unwrap().bytes, 0);
    }

    #[test]
    fn a_child_gets_a_copy_only_where_it_is_to() {
        let Ok(memory) = Memory::fill(64 << 10, Pages::Small) else {
            return println!("skipped: no memory of a known size here");
        };
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
    fn huge_pages_are_huge_or_refused() {
        match Memory::fill(8 << 20, Pages::Huge) {
            Ok(mut memory) => {
                assert_eq!(memory.resident().unwrap().in_pages_bytes, memory.bytes());
                assert_eq!(memory.words().len(), (8 << 20) / 8);
                assert!(memory.words().iter().all(|&word| word == 0));
            }
            Err(reason) => println!("skipped: {reason}"),
        }
    }

    #[test]
    fn memory_is_there_in_pages_that_it_tells() {
        for pages in Pages::ALL {
            match Memory::fill_or_small(8 << 20, pages) {
                Ok(memory) => {
                    assert_eq!(memory.resident().unwrap().in_pages_bytes, memory.bytes());
                    assert!(memory.pages() == pages || memory.pages() == Pages::Small);
                }
                Err(reason) => println!("skipped: {reason}"),
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
