//! What is known of a file besides its content: which part of it is cached, and how it may be read.
#![allow(unsafe_code)] // cachestat, mincore and a mapping have no safe wrapper

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;

use rustix::fs::{Advice, AtFlags, OFlags, StatxFlags, fadvise, fcntl_getfl, statx};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::files::{Alignment, Cached};

/// The number of cachestat(2), the same on every architecture (since Linux 6.5).
const CACHESTAT: libc::c_long = 451;

/// `struct cachestat_range`.
#[repr(C)]
struct Range {
    offset: u64,
    length: u64,
}

pub(crate) fn cachestat(file: &File) -> io::Result<Cached> {
    // A length of 0 means up to the end.
    let range = Range {
        offset: 0,
        length: 0,
    };
    let mut counts = [0_u64; 5];
    // SAFETY: the kernel reads a range and writes five counts, as struct cachestat has them.
    let result = unsafe {
        libc::syscall(
            CACHESTAT,
            file.as_raw_fd(),
            &raw const range,
            counts.as_mut_ptr(),
            0,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    let [pages, dirty, writeback, _evicted, _recently_evicted] = counts;
    Ok(Cached {
        pages,
        dirty,
        writeback,
    })
}

pub(crate) fn resident_pages(file: &File) -> io::Result<u64> {
    let bytes = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    if bytes == 0 {
        return Ok(0);
    }
    let mut states = vec![0_u8; bytes.div_ceil(rustix::param::page_size())];
    // SAFETY: a new mapping that nothing reads; it does not bring in pages by itself.
    let start = unsafe {
        mmap(
            ptr::null_mut(),
            bytes,
            ProtFlags::READ,
            MapFlags::SHARED,
            file,
            0,
        )
    }?;
    // SAFETY: the mapping is of this length, and there is a byte for each of its pages.
    let result = match unsafe { libc::mincore(start, bytes, states.as_mut_ptr()) } {
        0 => Ok(states.iter().filter(|state| **state & 1 != 0).count() as u64),
        _ => Err(io::Error::last_os_error()),
    };
    // SAFETY: mapped above, and nothing refers to it.
    unsafe { munmap(start, bytes) }?;
    result
}

pub(crate) fn forget_cached(file: &File) -> io::Result<()> {
    Ok(fadvise(file, 0, None, Advice::DontNeed)?)
}

pub(crate) fn direct_alignment(file: &File) -> io::Result<Option<Alignment>> {
    let facts = statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN)?;
    let has_alignment = facts.stx_mask & StatxFlags::DIOALIGN.bits() != 0;
    let (memory, offset) = (facts.stx_dio_mem_align, facts.stx_dio_offset_align);
    Ok(
        (has_alignment && memory > 0 && offset > 0).then_some(Alignment {
            memory: memory as usize,
            offset: offset as usize,
        }),
    )
}

pub(crate) fn is_direct(file: &File) -> io::Result<bool> {
    Ok(fcntl_getfl(file)?.contains(OFlags::DIRECT))
}

pub(crate) fn device_numbers(device: u64) -> (u32, u32) {
    (libc::major(device), libc::minor(device))
}

/// Whether this error means that the kernel does not have the call.
pub(crate) fn is_absent(cause: &io::Error) -> bool {
    cause.raw_os_error() == Some(Errno::NOSYS.raw_os_error())
}
