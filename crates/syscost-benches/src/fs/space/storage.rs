//! What storage delivered, according to the kernel.

use std::fs::File;
use std::time::Duration;

use syscost_harness::prelude::*;
use syscost_results::Verdict;
use syscost_sys::counters::IoReader;
use syscost_sys::files::{Device, Moved};

use super::detail_guest;
use crate::fs::waits::{MAX_MOVED, claim_moved};

const FETCHED: &str = "bytes fetched from storage per byte read";
const DELIVERED: &str = "bytes that the device delivered per byte read";
const STRAY: &str = "something else of this process was fetched, too";

/// Maximum bytes fetched per byte read: more than that means that the program's own pages, which
/// had been evicted, were fetched, and the kernel reads far ahead of these.
const MAX_STRAY: f64 = 1.25;

/// Minimum fetched share that refutes a claim that everything was cached: less may be the program's
/// own pages.
const MAX_OWN: f64 = 0.5;

/// Counts from its creation on.
pub(in crate::fs) struct Storage {
    io: Result<IoReader, Unsupported>,
    source: &'static str,
    /// The file system's device, if it has one, and its counts at the beginning.
    device: Option<(Device, Result<Moved, Unsupported>)>,
    fetched: u64,
}

impl Storage {
    /// Counts what the calling thread reads of this file from now on.
    pub(in crate::fs) fn watch(file: &File) -> Result<Self, Failure> {
        Self::begin(file, IoReader::of_thread(), "/proc/thread-self/io")
    }

    /// Average number of reads in flight at the device, over the time `passed`; `None`
    /// where the file system has no device, or they are not counted.
    pub(in crate::fs) fn mean_in_hand(&self, passed: Duration) -> Result<Option<f64>, Failure> {
        let Some((device, Ok(before))) = &self.device else {
            return Ok(None);
        };
        let in_hand_ms = device.moved()?.in_hand_ms - before.in_hand_ms;
        Ok(Some(in_hand_ms as f64 / (1e3 * passed.as_secs_f64())))
    }

    /// Counts what all threads of this process do, including those that the kernel adds to it for io_uring.
    pub(in crate::fs) fn watch_process(file: &File) -> Result<Self, Failure> {
        Self::begin(file, IoReader::open(), "/proc/self/io")
    }

    fn begin(
        file: &File,
        io: Result<IoReader, Unsupported>,
        source: &'static str,
    ) -> Result<Self, Failure> {
        let device = Device::of(file).ok().map(|device| {
            let moved = device.moved();
            (device, moved)
        });
        let fetched = match &io {
            Ok(io) => io.read()?.read_bytes,
            Err(_) => 0,
        };
        Ok(Self {
            io,
            source,
            device,
            fetched,
        })
    }

    /// Bytes fetched from storage since its creation; `None` where the kernel does not count them.
    pub(in crate::fs) fn fetched(&self) -> Result<Option<u64>, Failure> {
        match &self.io {
            Ok(io) => Ok(Some(io.read()?.read_bytes - self.fetched)),
            Err(_) => Ok(None),
        }
    }

    /// Claims that all `read` bytes were fetched from storage, and possibly more that the kernel read
    /// ahead.
    pub(in crate::fs) fn claim_fetched_ahead(
        &self,
        b: &mut Bencher,
        read: u64,
    ) -> Result<(), Failure> {
        detail_guest(b);
        let is_on_device = self.device.is_some();
        self.claim(b, "at least 1", read, |per_byte| {
            judge(per_byte.min(1.0), is_on_device)
        })
    }

    /// Claims that all `read` bytes were fetched from storage, and nothing else.
    pub(in crate::fs) fn claim_fetched(&self, b: &mut Bencher, read: u64) -> Result<(), Failure> {
        detail_guest(b);
        let is_on_device = self.device.is_some();
        self.claim(b, &all_fetched(), read, |per_byte| {
            judge(per_byte, is_on_device)
        })?;
        if let Some((device, before)) = &self.device {
            let (least, most) = (1.0, MAX_MOVED);
            let counted = before
                .clone()
                .and_then(|before| Ok((before, device.moved()?)));
            match counted {
                Ok((before, after)) => {
                    let delivered = (after.read - before.read) as f64 / read.max(1) as f64;
                    claim_moved(b, DELIVERED, (least, most), delivered, &device.source());
                }
                Err(reason) => {
                    b.claim_unobserved(DELIVERED, least, &device.source(), reason);
                }
            }
        }
        Ok(())
    }

    /// Claims that none of `read` bytes was fetched from storage.
    pub(in crate::fs) fn claim_unused(&self, b: &mut Bencher, read: u64) -> Result<(), Failure> {
        self.claim(b, "0", read, |per_byte| match per_byte {
            0.0 => (Verdict::Confirmed, None),
            MAX_OWN.. => (Verdict::Refuted, None),
            _ => (Verdict::Unverified, Some(STRAY)),
        })
    }

    fn claim(
        &self,
        b: &mut Bencher,
        expected: &str,
        read: u64,
        judge: impl Fn(f64) -> (Verdict, Option<&'static str>),
    ) -> Result<(), Failure> {
        match &self.io {
            Err(reason) => b.claim_unobserved(FETCHED, expected, self.source, reason),
            Ok(io) => {
                let fetched = io.read()?.read_bytes - self.fetched;
                let per_byte = fetched as f64 / read.max(1) as f64;
                let (verdict, reason) = judge(per_byte);
                b.claim_verdict(FETCHED, expected, per_byte, self.source, verdict, reason);
            }
        }
        Ok(())
    }
}

/// The expectation that [`judge`] confirms.
fn all_fetched() -> String {
    format!("1 to {MAX_STRAY}")
}

/// Claims that all `read` bytes were fetched from storage, and nothing else, according to `source`;
/// `None` where the kernel does not count them.
pub(in crate::fs) fn claim_all_fetched(
    b: &mut Bencher,
    fetched: Option<u64>,
    read: u64,
    is_on_device: bool,
    source: &str,
) {
    match fetched.map(|fetched| fetched as f64 / read.max(1) as f64) {
        Some(per_byte) => {
            let (verdict, reason) = judge(per_byte, is_on_device);
            b.claim_verdict(FETCHED, all_fetched(), per_byte, source, verdict, reason);
        }
        None => {
            let reason = "the kernel does not count them here";
            b.claim_unobserved(FETCHED, all_fetched(), source, reason);
        }
    }
}

/// Judges this many fetched bytes per byte, for reads that should all have come from storage. The
/// kernel certainly counts them only for devices: for a file system that a program serves it does
/// not.
fn judge(per_byte: f64, is_on_device: bool) -> (Verdict, Option<&'static str>) {
    match per_byte {
        1.0..=MAX_STRAY => (Verdict::Confirmed, None),
        MAX_STRAY.. => (Verdict::Unverified, Some(STRAY)),
        0.0 if !is_on_device => {
            let reason = "the kernel may not count what this file system fetches";
            (Verdict::Unverified, Some(reason))
        }
        _ => (Verdict::Refuted, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_fetched_was_cached() {
        let verdict = |per_byte, is_on_device| judge(per_byte, is_on_device).0;
        assert_eq!(verdict(1.0, true), Verdict::Confirmed);
        assert_eq!(verdict(0.99, true), Verdict::Refuted);
        assert_eq!(verdict(0.0, true), Verdict::Refuted);
        assert_eq!(verdict(2.0, true), Verdict::Unverified);
        assert_eq!(
            verdict(0.0, false),
            Verdict::Unverified,
            "served by a program"
        );
        assert_eq!(verdict(0.5, false), Verdict::Refuted, "it does count");
    }
}
