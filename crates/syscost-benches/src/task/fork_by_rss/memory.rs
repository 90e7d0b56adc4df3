//! Memory that is resident, in pages of a known size.
#![allow(unsafe_code)] // mmap

use std::ffi::c_void;
use std::fs;
use std::hint::black_box;
use std::ptr;
use std::time::{Duration, Instant};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use rustix::param::page_size;
use syscost_harness::prelude::*;

/// The only size of small pages that rows are named after, in bytes.
const SMALL: usize = 4 << 10;

/// The huge pages of processors whose small ones are of 4 KiB, in bytes.
pub(super) const HUGE: usize = 2 << 20;

/// How long the memory may take to be filled. In a virtual machine the host may have to find it first.
const PATIENCE: Duration = Duration::from_secs(6);

/// Private memory, every page of it written. Unmapped when it goes out of scope.
pub(super) struct Memory {
    mapping: *mut c_void,
    mapped: usize,
    start: *mut u8,
    bytes: usize,
    is_huge: bool,
}

impl Memory {
    /// So many bytes, a multiple of 2 MiB, in pages of 4 KiB or 2 MiB.
    pub(super) fn fill(bytes: usize, is_huge: bool) -> Result<Self, Failure> {
        if page_size() != SMALL {
            return Err(Failure::Unsupported(format!(
                "the pages of this kernel have {} bytes, not 4 KiB",
                page_size()
            )));
        }
        enough_for(bytes)?;
        let failed = |cause| Failure::of("map memory to fork", cause);
        let mapped = bytes + HUGE;
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping at an address of the kernel's choice.
        let mapping =
            unsafe { mmap_anonymous(ptr::null_mut(), mapped, access, flags) }.map_err(failed)?;
        let start = mapping
            .cast::<u8>()
            .wrapping_add(mapping.align_offset(HUGE));
        let memory = Self {
            mapping,
            mapped,
            start,
            bytes,
            is_huge,
        };
        let advice = match is_huge {
            true => Advice::LinuxHugepage,
            false => Advice::LinuxNoHugepage,
        };
        memory.advise(0, bytes, advice)?;
        memory.write_all()?;
        let (_, huge) = memory.resident()?;
        if is_huge && huge < bytes {
            return Err(Failure::Unsupported(format!(
                "only {} of {} MiB came in huge pages; see /sys/kernel/mm/transparent_hugepage",
                huge >> 20,
                bytes >> 20
            )));
        }
        Ok(memory)
    }

    /// Writes every page, or as much as can be in [`PATIENCE`].
    fn write_all(&self) -> Result<(), Failure> {
        const STEP: usize = 32 << 20;
        let begun = Instant::now();
        for from in (0..self.bytes).step_by(STEP) {
            let to = self.bytes.min(from + STEP);
            // As if every page were written, but in one call. Before Linux 5.14 they have to be written indeed.
            if self.advise(from, to, Advice::LinuxPopulateWrite).is_err() {
                for offset in (from..to).step_by(SMALL) {
                    // SAFETY: within the mapping, which nothing else refers to.
                    unsafe { self.start.add(offset).write_volatile(1) };
                }
            }
            if begun.elapsed() > PATIENCE {
                return Err(Failure::Unsupported(format!(
                    "after {} s only {} of {} MiB could be filled: memory is slow here, or busy",
                    PATIENCE.as_secs(),
                    to >> 20,
                    self.bytes >> 20
                )));
            }
        }
        Ok(())
    }

    /// Gives the kernel advice about a part of it, none that takes the part away.
    pub(super) fn advise(&self, from: usize, to: usize, advice: Advice) -> Result<(), Failure> {
        assert!(from <= to && to <= self.bytes);
        // SAFETY: within the mapping; the advice that is given here changes no content.
        unsafe { madvise(self.start.add(from).cast(), to - from, advice) }
            .map_err(|cause| Failure::of("madvise", cause))
    }

    /// Reads the byte at this place; a process that does not have it is ended by a signal.
    pub(super) fn look_at(&self, at: usize) {
        assert!(at < self.bytes);
        // SAFETY: within the mapping; a child that was not given this part ends, which is what it is asked for.
        black_box(unsafe { self.start.add(at).read_volatile() });
    }

    /// Claims that all of it is resident, in pages of the size that the row's name tells.
    pub(super) fn claim(&self, b: &mut Bencher) -> Result<(), Failure> {
        let (resident, huge) = self.resident()?;
        let in_huge = if self.is_huge { self.bytes } else { 0 };
        let mut claim = |what: &str, expected: usize, observed: usize| {
            let (expected, observed) = (expected as f64, observed as f64);
            b.claim(what, expected, observed, "smaps", expected == observed);
        };
        claim("resident bytes of the memory", self.bytes, resident);
        claim("of these in huge pages", in_huge, huge);
        Ok(())
    }

    /// How many bytes are resident, and how many of these in huge pages, by /proc/self/smaps. The mapping may be in parts.
    fn resident(&self) -> Result<(usize, usize), Failure> {
        let smaps = fs::read_to_string("/proc/self/smaps")
            .map_err(|cause| Failure::Unsupported(format!("/proc/self/smaps: {cause}")))?;
        let within = self.start.addr()..self.start.addr() + self.bytes;
        let (mut resident, mut huge, mut is_ours) = (0, 0, false);
        for line in smaps.lines() {
            let Some((key, value)) = line.split_once(':') else {
                continue;
            };
            let kib = value
                .trim()
                .strip_suffix(" kB")
                .and_then(|n| n.parse::<usize>().ok());
            match (key, kib) {
                ("Rss", Some(kib)) if is_ours => resident += kib << 10,
                ("AnonHugePages", Some(kib)) if is_ours => huge += kib << 10,
                _ => {
                    // A line that begins a mapping: `from-to rwxp offset major:minor inode`.
                    let address = key.split_once('-').map(|(from, _)| from);
                    if let Some(Ok(from)) = address.map(|from| usize::from_str_radix(from, 16)) {
                        is_ours = within.contains(&from);
                    }
                }
            }
        }
        Ok((resident, huge))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping made above, which nothing refers to any more.
        let _ = unsafe { munmap(self.mapping, self.mapped) };
    }
}

/// Whether twice as much is available, so that filling it pushes nobody else out.
fn enough_for(bytes: usize) -> Result<(), Failure> {
    let meminfo = fs::read_to_string("/proc/meminfo")
        .map_err(|cause| Failure::Unsupported(format!("/proc/meminfo: {cause}")))?;
    let available = meminfo.lines().find_map(|line| {
        let kib = line
            .strip_prefix("MemAvailable:")?
            .trim()
            .strip_suffix(" kB")?;
        kib.parse::<usize>().ok()
    });
    match available {
        Some(kib) if kib / 2 < bytes >> 10 => Err(Failure::Unsupported(format!(
            "{} MiB of memory are available; twice {} MiB are wanted",
            kib >> 10,
            bytes >> 20
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_filled_is_resident_in_small_pages() {
        let memory = match Memory::fill(8 << 20, false) {
            Ok(memory) => memory,
            Err(reason) => {
                println!("skipped: {reason}");
                return;
            }
        };
        assert_eq!(memory.resident().unwrap(), (8 << 20, 0));
        memory.look_at((8 << 20) - 1);
    }

    #[test]
    fn too_much_is_refused() {
        let error = enough_for(usize::MAX >> 2).unwrap_err();
        assert!(matches!(error, Failure::Unsupported(_)), "{error}");
    }
}
