//! The ring of a perf event: memory that the kernel fills with records.
#![allow(unsafe_code)] // the kernel writes to it

use std::io;
use std::os::fd::OwnedFd;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use perf_event_open_sys::bindings;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::os;

/// Memory that the kernel fills with an event's records until it is full.
pub(super) struct Ring {
    /// Without it the kernel writes no more.
    _event: OwnedFd,
    /// A page that describes the ring, then its records.
    memory: *mut u8,
    /// Bytes of a page, and of the records.
    page: usize,
    size: usize,
}

// SAFETY: the memory is this value's alone, from whichever thread it is used.
unsafe impl Send for Ring {}

impl Ring {
    /// A ring of this many bytes of records, a power of two of pages.
    pub(super) fn of(event: OwnedFd, size: usize) -> io::Result<Ring> {
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
            _event: event,
            memory: memory.cast(),
            page,
            size,
        })
    }

    /// Takes all records, each with its header (perf_event_open(2)), in the order in which they were written.
    pub(super) fn take(&mut self, mut to: impl FnMut(&[u8])) {
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
            to(self.copied(at, length, &mut record));
            at += length as u64;
        }
        tail.store(end, Ordering::Release);
    }

    /// Bytes of the ring, which may go on at its beginning.
    fn copied<'a>(&self, at: u64, length: usize, into: &'a mut Vec<u8>) -> &'a [u8] {
        into.resize(length, 0);
        let at = at as usize % self.size;
        let first = length.min(self.size - at);
        // SAFETY: both parts lie in the ring, whose records up to the head the kernel has written and leaves alone
        // until the tail has passed them.
        unsafe {
            let records = self.memory.add(self.page);
            ptr::copy_nonoverlapping(records.add(at), into.as_mut_ptr(), first);
            ptr::copy_nonoverlapping(records, into.as_mut_ptr().add(first), length - first);
        }
        into
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: gives up what `of` mapped.
        let _ = unsafe { munmap(self.memory.cast(), self.page + self.size) };
    }
}
