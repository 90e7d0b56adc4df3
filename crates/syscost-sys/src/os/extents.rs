//! fiemap: where on its device a file lies (Documentation/filesystems/fiemap.rst of the kernel).
#![allow(unsafe_code)] // an ioctl without a safe wrapper

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use rustix::ioctl::opcode;

use crate::files::Extents;

/// Extents requested per call.
const PART: usize = 64;

/// FIEMAP_EXTENT_LAST: no extent of the file follows.
const LAST: u32 = 1;

/// FIEMAP_EXTENT_SHARED: another file has it as well.
const SHARED: u32 = 0x2000;

/// `struct fiemap` without its extents.
#[repr(C)]
#[derive(Default)]
struct Header {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Default, Clone, Copy)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved_64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
struct Request {
    header: Header,
    extents: [Extent; PART],
}

pub(crate) fn extents(file: &File) -> io::Result<Extents> {
    let mut found = Extents::default();
    let mut start = 0;
    loop {
        let mut request = Request {
            header: Header {
                start,
                length: u64::MAX - start,
                extent_count: PART as u32,
                ..Header::default()
            },
            extents: [Extent::default(); PART],
        };
        let operation = opcode::read_write::<Header>(b'f', 11);
        // SAFETY: the kernel reads the header and writes no more extents after it than the header says
        // there is room for.
        let result = unsafe { libc::ioctl(file.as_raw_fd(), operation as _, &raw mut request) };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        let count = PART.min(request.header.mapped_extents as usize);
        for extent in &request.extents[..count] {
            found.mapped += extent.length;
            found.shared += extent.length * u64::from(extent.flags & SHARED != 0);
            start = extent.logical + extent.length;
        }
        let last = request.extents[..count].last();
        if last.is_none_or(|extent| extent.flags & LAST != 0) {
            return Ok(found);
        }
    }
}
