//! What storage delivered, according to the kernel.

use std::fs::File;
use std::time::Duration;

use syscost_harness::prelude::*;
use syscost_sys::counters::{Io, IoReader};
use syscost_sys::files::{Device, Moved};

use super::detail_guest;
use crate::fs::waits::{MAX_MOVED, claim_device_moved};

const COUNTED: &str = "read_bytes of /proc/self/io";
const PER_BYTE: &str = "bytes fetched from storage per byte read";
const DELIVERED: &str = "bytes that the device delivered per byte read";
const STRAY: &str = "something else of this process was fetched, too";
const UNCOUNTED: &str = "the kernel may not count what this file system fetches";

/// How much was fetched, for reads that should all have come from storage, and for those of which
/// none should.
static FETCHED: Witness = Witness::of(PER_BYTE, COUNTED);
static UNFETCHED: Witness = Witness::of(PER_BYTE, COUNTED);

/// Maximum bytes fetched per byte read: more than that means that the program's own pages, which
/// had been evicted, were fetched, and the kernel reads far ahead of these.
const MAX_STRAY: f64 = 1.25;

/// Minimum fetched share that refutes a claim that everything was cached: less may be the program's
/// own pages.
const MAX_OWN: f64 = 0.5;

/// Proof that all bytes were fetched from storage, and nothing else.
pub(in crate::fs) fn all_fetched() -> Proof {
    FETCHED.within(Bound::Within(1.0, MAX_STRAY))
}

/// Proof that all bytes were fetched from storage, and possibly more that the kernel read ahead.
pub(in crate::fs) fn fetched_ahead() -> Proof {
    FETCHED.within(Bound::AtLeast(1.0))
}

/// Proof that none of them was.
pub(in crate::fs) fn unfetched() -> Proof {
    UNFETCHED.within(Bound::AtMost(0.0))
}

/// Reports how much was fetched for this many bytes; `None` where the kernel does not count it. It
/// certainly does only for devices, not for a file system that a program serves.
pub(in crate::fs) fn see_fetched(
    b: &mut Bencher,
    fetched: Option<u64>,
    read: u64,
    is_on_device: bool,
) {
    let Some(fetched) = fetched else {
        let reason = "the kernel does not count them here";
        b.unobserved(&FETCHED, reason);
        return b.unobserved(&UNFETCHED, reason);
    };
    let per_byte = fetched as f64 / read.max(1) as f64;
    let uncounted = (fetched == 0 && !is_on_device).then_some(UNCOUNTED);
    let stray = (per_byte > MAX_STRAY).then_some(STRAY);
    b.observe_unless(&FETCHED, per_byte, stray.or(uncounted));
    b.observe_unless(&UNFETCHED, per_byte, (per_byte < MAX_OWN).then_some(STRAY));
}

/// The source of what a thread reads and writes.
pub(in crate::fs) const COUNTED_OF_THREAD: &str = "/proc/thread-self/io";

/// Counts from its creation on.
pub(in crate::fs) struct Storage {
    io: Result<(IoReader, Io), Unsupported>,
    /// The file system's device, if it has one, and its counts at the beginning.
    device: Result<(Device, Result<Moved, Unsupported>), Unsupported>,
}

impl Storage {
    /// Counts what the calling thread reads and writes from now on, and what the device of this file does.
    pub(in crate::fs) fn watch(file: &File) -> Self {
        Self::begin(file, IoReader::of_thread())
    }

    /// Counts what all threads of this process do, including those that the kernel adds to it for io_uring.
    pub(in crate::fs) fn watch_process(file: &File) -> Self {
        Self::begin(file, IoReader::open())
    }

    fn begin(file: &File, io: Result<IoReader, Unsupported>) -> Self {
        Self {
            io: io.and_then(|io| {
                let before = io.read()?;
                Ok((io, before))
            }),
            device: Device::of(file).map(|device| {
                let moved = device.moved();
                (device, moved)
            }),
        }
    }

    /// What was read and written since its creation.
    pub(in crate::fs) fn io(&self) -> Result<Io, Unsupported> {
        let (io, before) = self.io.as_ref().map_err(Clone::clone)?;
        Ok(io.read()? - *before)
    }

    /// Bytes fetched from storage; `None` where the kernel does not count them.
    pub(in crate::fs) fn fetched(&self) -> Option<u64> {
        Some(self.io().ok()?.read_bytes)
    }

    /// Bytes that this thread dirtied or sent to storage, as the kernel charges it.
    pub(in crate::fs) fn charged(&self) -> Result<u64, Unsupported> {
        Ok(self.io()?.write_bytes)
    }

    /// Bytes that the device has delivered, to any program.
    pub(in crate::fs) fn delivered(&self) -> Result<u64, Unsupported> {
        let (device, before) = self.device.as_ref().map_err(Clone::clone)?;
        Ok(device.moved()?.read - before.as_ref().map_err(Clone::clone)?.read)
    }

    pub(in crate::fs) fn has_device(&self) -> bool {
        self.device.is_ok()
    }

    /// The source of the device's counts.
    pub(in crate::fs) fn source(&self) -> String {
        let device = self.device.as_ref();
        device.map_or("/sys/dev/block".to_owned(), |(device, _)| device.source())
    }

    /// Average number of reads in flight at the device, over the time `passed`; `None`
    /// where the file system has no device, or they are not counted.
    pub(in crate::fs) fn mean_in_hand(&self, passed: Duration) -> Result<Option<f64>, Failure> {
        let Ok((device, Ok(before))) = &self.device else {
            return Ok(None);
        };
        let in_hand_ms = device.moved()?.in_hand_ms - before.in_hand_ms;
        Ok(Some(in_hand_ms as f64 / (1e3 * passed.as_secs_f64())))
    }

    /// Reports how much was fetched for this many bytes.
    pub(in crate::fs) fn see(&self, b: &mut Bencher, read: u64) {
        see_fetched(b, self.fetched(), read, self.has_device());
    }

    /// Claims that the device delivered these many bytes, and not many more.
    pub(in crate::fs) fn claim_delivered(&self, b: &mut Bencher, read: u64) {
        detail_guest(b);
        if self.has_device() {
            let delivered = self.delivered();
            let per_byte = delivered.map(|delivered| delivered as f64 / read.max(1) as f64);
            claim_device_moved(b, DELIVERED, (1.0, MAX_MOVED), per_byte, &self.source());
        }
    }
}
