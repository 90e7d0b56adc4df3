//! Rings of perf events: memory that the kernel fills with records.
#![allow(unsafe_code)] // the kernel writes to it

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use perf_event_open_sys::{bindings, ioctls};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::perf::done;
use crate::os;

/// Bytes of records in a ring, if it may have as many: what kernel.perf_event_mlock_kb (516) allows each CPU,
/// less the page that describes it.
const SIZE: usize = 512 << 10;

/// Memory that the kernel fills with the records of events until it is full.
pub(super) struct Ring {
    /// Whose memory it is; without it the kernel writes no more.
    event: OwnedFd,
    /// Others that write to it.
    others: Vec<OwnedFd>,
    /// A page that describes the ring, then its records.
    memory: *mut u8,
    /// Bytes of a page, and of the records.
    page: usize,
    size: usize,
}

// SAFETY: the memory is this value's alone, from whichever thread it is used.
unsafe impl Send for Ring {}

/// A ring for the event of each CPU, as large as may be.
pub(super) fn rings(
    cpus: &[u32],
    event: impl Fn(u32) -> io::Result<OwnedFd>,
) -> io::Result<Vec<Ring>> {
    let mut size = SIZE;
    loop {
        let rings = cpus.iter().map(|cpu| Ring::of(event(*cpu)?, size));
        match rings.collect() {
            // More than may be locked, which is what is left of the user's share.
            Err(cause)
                if cause.raw_os_error() == Some(libc::EPERM) && size > 8 * os::page_size() =>
            {
                size /= 2;
            }
            rings => return rings,
        }
    }
}

impl Ring {
    /// A ring of this many bytes of records, a power of two of pages.
    fn of(event: OwnedFd, size: usize) -> io::Result<Ring> {
        let page = os::page_size();
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a mapping where the kernel likes it touches no memory in use.
        let memory = unsafe {
            mmap(
                ptr::null_mut(),
                page + size,
                access,
                MapFlags::SHARED,
                &event,
                0,
            )
        }?;
        Ok(Ring {
            event,
            others: Vec::new(),
            memory: memory.cast(),
            page,
            size,
        })
    }

    /// Has another event of the same CPU write to it.
    pub(super) fn add(&mut self, event: OwnedFd) -> io::Result<()> {
        // SAFETY: both are events' own descriptors.
        done(unsafe { ioctls::SET_OUTPUT(event.as_raw_fd(), self.event.as_raw_fd()) })?;
        self.others.push(event);
        Ok(())
    }

    /// Takes all records, in the order in which they were written.
    pub(super) fn take(&mut self, mut to: impl FnMut(Bytes<'_>)) {
        /// Bytes of a header, which are never parted; its last two are the record's length.
        const HEADER: usize = 8;
        let description = self.memory.cast::<bindings::perf_event_mmap_page>();
        // SAFETY: both words are in the page that the kernel keeps there; both sides use them as atomic ones.
        let (head, tail) = unsafe {
            (
                AtomicU64::from_ptr(&raw mut (*description).data_head),
                AtomicU64::from_ptr(&raw mut (*description).data_tail),
            )
        };
        let (mut at, end) = (tail.load(Ordering::Relaxed), head.load(Ordering::Acquire));
        let mut record = Vec::new();
        while at < end {
            let header = self.copied(at, HEADER, &mut record);
            let length = usize::from(u16::from_ne_bytes([header[6], header[7]]));
            if length < HEADER {
                break;
            }
            to(Bytes(self.copied(at, length, &mut record)));
            at += length as u64;
        }
        tail.store(end, Ordering::Release);
    }

    /// Bytes of the ring, which may go on at its beginning.
    fn copied<'a>(&self, at: u64, length: usize, into: &'a mut Vec<u8>) -> &'a [u8] {
        into.resize(length, 0);
        let at = at as usize % self.size;
        let first = length.min(self.size - at);
        // SAFETY: both parts lie in the ring, whose records up to the head the kernel has written and leaves
        // alone until the tail has passed them.
        unsafe {
            let records = self.memory.add(self.page);
            ptr::copy_nonoverlapping(records.add(at), into.as_mut_ptr(), first);
            ptr::copy_nonoverlapping(records, into.as_mut_ptr().add(first), length - first);
        }
        into
    }
}

/// It becomes readable when the ring is half full.
impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: gives up what `of` mapped.
        let _ = unsafe { munmap(self.memory.cast(), self.page + self.size) };
    }
}

/// A record with its header (perf_event_open(2)), whose parts are found by their places.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn kind(self) -> Option<u32> {
        self.word(0)
    }

    /// What kinds of records say in the header.
    pub(super) fn misc(self) -> Option<u32> {
        Some(self.word(4)? & 0xffff)
    }

    pub(super) fn word(self, at: usize) -> Option<u32> {
        let bytes = self.after(at)?.first_chunk();
        bytes.map(|bytes| u32::from_ne_bytes(*bytes))
    }

    pub(super) fn long(self, at: usize) -> Option<u64> {
        let bytes = self.after(at)?.first_chunk();
        bytes.map(|bytes| u64::from_ne_bytes(*bytes))
    }

    pub(super) fn after(self, at: usize) -> Option<&'a [u8]> {
        self.0.get(at..)
    }

    pub(super) fn length(self) -> usize {
        self.0.len()
    }
}
