//! Page faults on many CPUs at once.
//!
//! ## Measures
//! How many first touches of anonymous memory per second all copies make together. Each copy has 64 pages of its own; when it has written
//! into each, it gives them all back by madvise(MADV_DONTNEED) and starts again. That call's sixty-fourth is in every operation.
//! ## Does not measure
//! How long a fault takes, huge pages (they are forbidden here), or faults that read from a file: `memory.page_fault`.
//! ## Reading it
//! Processes share the kernel's allocator of pages; threads share one address space as well: its locks, and each madvise must tell every
//! CPU that runs one of them to forget the pages. The difference is the price of sharing memory. The first copy runs on the measured CPU, the
//! others as in `scale.syscall`.
//! ## Source
//! will-it-scale `page_fault1`.
#![allow(unsafe_code)] // a mapping of our own

use std::ptr;

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use rustix::param::page_size;
use syscost_harness::prelude::*;

use super::crowd;

/// Pages that a copy touches in turn.
const PAGES: usize = 64;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "scale.fault",
    title: "Page faults on many CPUs",
    unit: Unit::OperationsPerSecond,
    better: Better::Higher,
    cases: Cases::Here(|| crowd::cases("", &[])),
    expect: &[
        within(Counter::MinorFaults, 0.99, 1.01),
        exactly(Counter::Syscall(Sysno::MADVISE), 1.0 / PAGES as f64),
    ],
    quick: |_| false,
    run,
    source: include_str!("fault.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let (between, count) = (crowd::between(b.case())?, crowd::count(b.case()));
    b.copies(between, count, PAGES as u64, |_| {
        let pages = Pages::map().map_err(|cause| Failure::of("map memory", cause))?;
        Ok(move || pages.touch_all_anew())
    })
}

/// Anonymous memory.
struct Pages {
    start: *mut u8,
    page: usize,
}

impl Pages {
    fn map() -> Result<Self, Errno> {
        let page = page_size();
        // SAFETY: a mapping where the kernel likes it touches no memory in use.
        let start = unsafe {
            mmap_anonymous(
                ptr::null_mut(),
                PAGES * page,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        }?;
        let pages = Self {
            start: start.cast(),
            page,
        };
        // One fault a page. A kernel without huge pages knows no such advice, and needs none.
        // SAFETY: the mapping is ours, and this changes nothing in it.
        match unsafe { madvise(start, PAGES * page, Advice::LinuxNoHugepage) } {
            Ok(()) | Err(Errno::INVAL) => Ok(pages),
            Err(cause) => Err(cause),
        }
    }

    fn touch_all_anew(&self) -> Result<(), Errno> {
        for number in 0..PAGES {
            // SAFETY: within the mapping, which nobody else knows.
            unsafe { self.start.add(number * self.page).write_volatile(1) };
        }
        // SAFETY: the mapping is ours, and nothing in it is needed.
        unsafe { madvise(self.start.cast(), PAGES * self.page, Advice::LinuxDontNeed) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nobody uses it any more.
        let unmapped = unsafe { munmap(self.start.cast(), PAGES * self.page) };
        debug_assert!(unmapped.is_ok(), "{unmapped:?}");
    }
}
