//! Mappings of anonymous memory, and what allocates them.
#![allow(unsafe_code)] // system calls on mappings

use std::collections::BTreeSet;
use std::io;
use std::ptr;

use rustix::io::Errno;
use rustix::mm::{
    Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect, munmap,
};

/// The kernel's base page size, in bytes.
pub(crate) fn page_size() -> usize {
    rustix::param::page_size()
}

/// Maps this many bytes of private anonymous memory, in pages of 1 GiB if they are to be gigantic.
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

/// Forbids every access to a part of a mapping, which thereby becomes a separate mapping.
pub(crate) fn forbid(start: *mut u8, bytes: usize) -> io::Result<()> {
    // SAFETY: the caller owns the mapping, and nothing refers to this part.
    Ok(unsafe { mprotect(start.cast(), bytes, MprotectFlags::empty()) }?)
}

pub(crate) fn unmap(start: *mut u8, bytes: usize) {
    // SAFETY: the caller owns the mapping. Only addresses that are not mapped are refused.
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
        // A kernel without huge pages does not have this advice, nor need it.
        Err(Errno::INVAL) if !huge => Ok(()),
        other => Ok(other?),
    }
}

/// Sets whether forked processes get a copy of a part of a mapping.
pub(crate) fn advise_copying(start: *mut u8, bytes: usize, copy: bool) -> io::Result<()> {
    let advice = match copy {
        true => Advice::LinuxDoFork,
        false => Advice::LinuxDontFork,
    };
    // SAFETY: this advice changes no content here.
    Ok(unsafe { madvise(start.cast(), bytes, advice) }?)
}

/// Makes every page of a part of a mapping resident and writable, as if each were written.
pub(crate) fn populate(start: *mut u8, bytes: usize) -> io::Result<()> {
    // SAFETY: populating changes no content.
    Ok(unsafe { madvise(start.cast(), bytes, Advice::LinuxPopulateWrite) }?)
}

/// Sets from which size on malloc maps each block separately, and keeps it from returning free
/// memory at the end of its heap.
#[cfg(target_env = "gnu")]
pub(crate) fn map_blocks_from(bytes: usize) -> io::Result<()> {
    let out_of_range = |_| io::Error::from(Errno::INVAL);
    let threshold = libc::c_int::try_from(bytes).map_err(out_of_range)?;
    for (parameter, value) in [
        (libc::M_MMAP_THRESHOLD, threshold),
        (libc::M_TRIM_THRESHOLD, libc::c_int::MAX),
    ] {
        // SAFETY: settings of the allocator; it changes no block.
        if unsafe { libc::mallopt(parameter, value) } != 1 {
            return Err(Errno::INVAL.into());
        }
    }
    // Memory that is free at the end of the heap would serve large blocks as well.
    // SAFETY: returns only what no block uses.
    unsafe { libc::malloc_trim(0) };
    Ok(())
}

/// Other C libraries have no such setting.
#[cfg(not(target_env = "gnu"))]
pub(crate) fn map_blocks_from(_: usize) -> io::Result<()> {
    Err(Errno::NOTSUP.into())
}

/// The functions of the C library that allocate, no more at a time than there are debug registers.
pub(crate) fn allocators() -> [Vec<*const u64>; 2] {
    unsafe extern "C" {
        safe fn valloc(bytes: libc::size_t) -> *mut libc::c_void;
    }
    let common = vec![
        libc::malloc as *const u64,
        libc::calloc as *const u64,
        libc::realloc as *const u64,
        libc::posix_memalign as *const u64,
    ];
    // Some are one function of two names.
    let aligned = BTreeSet::from([
        libc::aligned_alloc as *const u64,
        libc::memalign as *const u64,
        valloc as *const u64,
    ]);
    [common, aligned.into_iter().collect()]
}

/// Makes a mapping readable and executable, and no longer writable.
pub(crate) fn make_executable(start: *mut u8, bytes: usize) -> io::Result<()> {
    let access = MprotectFlags::READ | MprotectFlags::EXEC;
    // SAFETY: the caller owns the mapping and writes to it no more.
    Ok(unsafe { mprotect(start.cast(), bytes, access) }?)
}

/// Binds an untouched part of a mapping to the memory of this node.
pub(crate) fn bind_to_node(start: *mut u8, bytes: usize, node: u32) -> io::Result<()> {
    /// Words of the mask: of 1024 nodes, as many as kernels are built for.
    const WORDS: usize = 16;
    let mut mask = [0_u64; WORDS];
    let word = mask.get_mut(node as usize / 64);
    *word.ok_or(Errno::INVAL)? |= 1 << (node % 64);
    // One more than there are bits: the kernel subtracts one.
    let most = WORDS * 64 + 1;
    // SAFETY: a policy changes no content, and the mask has the stated length.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mbind,
            start,
            bytes,
            libc::MPOL_BIND,
            mask.as_ptr(),
            most,
            0,
        )
    };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The node of each of these pages; a negative error number for one that is not resident.
pub(crate) fn nodes_of(pages: &[*mut u8]) -> io::Result<Vec<i32>> {
    let mut nodes = vec![i32::MIN; pages.len()];
    let (count, none) = (pages.len(), ptr::null::<libc::c_int>());
    // SAFETY: without nodes to move to, the call only reports where pages are, in a list of the
    // stated length.
    let done = unsafe {
        libc::syscall(
            libc::SYS_move_pages,
            0,
            count,
            pages.as_ptr(),
            none,
            nodes.as_mut_ptr(),
            0,
        )
    };
    match done {
        0 => Ok(nodes),
        _ => Err(io::Error::last_os_error()),
    }
}
