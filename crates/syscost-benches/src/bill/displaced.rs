//! Shared: single operations, each after a given amount of the user's data was read.
//!
//! A loop finds everything of the kernel's in the caches; a program that computes between two calls does not.
#![allow(unsafe_code)] // memory that forked processes share

use std::hint::black_box;
use std::ptr;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use syscost_harness::prelude::*;
use syscost_sys::audit::uncounted;
use syscost_sys::kernel::LINE;

/// How much is read before each operation: nothing, and what fills caches of the first to the last level.
pub(super) const SIZES: [Bytes; 5] = [
    Bytes(0),
    Bytes::kib(64),
    Bytes::kib(256),
    Bytes::mib(1),
    Bytes::mib(4),
];

static READ: Witness = Witness::of(
    "bytes of other data read before each operation",
    "the sum of the lines read",
);

/// Proof that this number of bytes is read.
pub(super) fn proof(bytes: Bytes) -> Proof {
    READ.expects(bytes.0)
}

/// The data that are read. Shared memory, of which a fork copies no page tables: forks are measured, too.
struct Data {
    start: *mut u8,
    bytes: usize,
    /// What all lines read so far add up to: each holds a one.
    lines: u64,
    /// How often they were read.
    times: u64,
}

impl Data {
    fn new(bytes: Bytes) -> Result<Self, Failure> {
        let bytes = bytes.get();
        let mut start: *mut u8 = ptr::null_mut();
        if bytes > 0 {
            let access = ProtFlags::READ | ProtFlags::WRITE;
            // SAFETY: a new mapping, at a place that the kernel chooses.
            start = unsafe { mmap_anonymous(ptr::null_mut(), bytes, access, MapFlags::SHARED) }
                .tried("map the data that are read")?
                .cast();
        }
        for line in (0..bytes).step_by(LINE) {
            // SAFETY: within the mapping, to which nothing else refers.
            unsafe { start.add(line).write(1) };
        }
        Ok(Self {
            start,
            bytes,
            lines: 0,
            times: 0,
        })
    }

    fn read(&mut self) {
        for line in (0..self.bytes).step_by(LINE) {
            // SAFETY: within the mapping, all of which was written.
            self.lines += u64::from(black_box(unsafe { self.start.add(line).read_volatile() }));
        }
        self.times += 1;
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        if self.bytes > 0 {
            // SAFETY: the whole mapping, which is not used any more.
            let _ = unsafe { munmap(self.start.cast(), self.bytes) };
        }
    }
}

/// Measures an operation, timed individually after `prepare`, whose calls do not count, and after `displaced`
/// bytes were read.
pub(super) fn measure<'p>(
    plan: Plan<'p>,
    displaced: Bytes,
    mut prepare: impl FnMut() -> Result<(), Failure>,
    operate: impl FnMut() -> Result<(), Failure>,
) -> Result<Outcome<'p>, Failure> {
    let mut data = Data::new(displaced)?;
    let mut outcome = plan.measure(Single::of(
        || {
            uncounted(&mut prepare)?;
            data.read();
            Ok(())
        },
        operate,
    ))?;
    let lines = data.lines / data.times.max(1);
    outcome.observe(&READ, lines * LINE as u64);
    Ok(outcome)
}
