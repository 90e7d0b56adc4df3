//! Mappings of anonymous memory.
#![allow(unsafe_code)] // mmap and madvise

use std::io;
use std::ptr;

use rustix::io::Errno;
use rustix::mm::{
    Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect, munmap,
};

/// The kernel's base size of pages, in bytes.
pub(crate) fn page_size() -> usize {
    rustix::param::page_size()
}

/// Maps so many bytes of private anonymous memory, in pages of 1 GiB if they are to be gigantic.
pub(crate) fn map(bytes: usize, gigantic: bool) -> io::Result<*mut u8> {
    let mut flags = MapFlags::PRIVATE;
    if gigantic {
        flags |= MapFlags::HUGETLB | MapFlags::HUGE_1GB;
    }
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use.
    let start = unsafe { mmap_anonymous(ptr::null_mut(), bytes, access, flags) }?;
    Ok(start.cast())
}

/// Forbids every access to a part of a mapping, which thereby becomes one of its own.
pub(crate) fn forbid(start: *mut u8, bytes: usize) -> io::Result<()> {
    // SAFETY: the caller owns the mapping, and nothing refers to this part.
    Ok(unsafe { mprotect(start.cast(), bytes, MprotectFlags::empty()) }?)
}

/// Gives back a mapping that nothing refers to any more.
pub(crate) fn unmap(start: *mut u8, bytes: usize) {
    // SAFETY: the caller owns the mapping. Only addresses that are no mapping are refused.
    let _ = unsafe { munmap(start.cast(), bytes) };
}

/// Asks for transparent huge pages in a part of a mapping, or for none.
pub(crate) fn advise_huge(start: *mut u8, bytes: usize, huge: bool) -> io::Result<()> {
    let advice = match huge {
        true => Advice::LinuxHugepage,
        false => Advice::LinuxNoHugepage,
    };
    // SAFETY: this advice changes no content.
    match unsafe { madvise(start.cast(), bytes, advice) } {
        // A kernel without huge pages knows no such advice, and needs none.
        Err(Errno::INVAL) if !huge => Ok(()),
        other => Ok(other?),
    }
}

/// Makes every page of a part of a mapping resident and writable, as if each were written.
pub(crate) fn populate(start: *mut u8, bytes: usize) -> io::Result<()> {
    // SAFETY: populating changes no content.
    Ok(unsafe { madvise(start.cast(), bytes, Advice::LinuxPopulateWrite) }?)
}
