//! Shared: what operations on a device wait for: claims that it was given what was written, and
//! details that tell its noise from the core's.

use std::cell::Cell;
use std::fs::File;
use std::time::{Duration, Instant};

use syscost_harness::directory::Directory;
use syscost_harness::prelude::*;
use syscost_sys::counters::{SchedStat, own_run_ns};
use syscost_sys::files::{self, Device, Moved};

/// The journal, the block and the device's cache may each be waited for, and further ones for the
/// file system's threads.
pub(super) const MAX_SLEEPS: Expect = at_most(Counter::VoluntarySwitches, 20.0);

/// Whether the files of a case's directory lie on a device at all.
pub(super) fn needs_device(case: &Case) -> Result<(), Unsupported> {
    let found = Directory::of(case)
        .ok()
        .and_then(|directory| files::filesystem(&directory.path).ok());
    match found.filter(files::Filesystem::is_in_memory) {
        Some(found) => Err(Unsupported::new(format!(
            "files of {} are nowhere but in memory: there is no device to wait for",
            found.kind
        ))),
        None => Ok(()),
    }
}

/// How many pages of a file its device does not have yet.
pub(super) fn unwritten_pages(file: &File) -> Result<u64, Unsupported> {
    let cached = files::cachestat(file)?;
    if cached.pages == 0 && files::resident_pages(file)? > 0 {
        let reason =
            "cachestat sees no page of this file: overlayfs caches those of the file below";
        return Err(Unsupported::new(reason));
    }
    Ok(cached.dirty + cached.writeback)
}

/// Looks at a device, and at this thread, before and behind operations. Its details of a row are
/// `cpu_ns`, `run_delay_ns`, `device_busy_percent` and `device_written_bytes`.
pub(super) struct Waits {
    device: Result<(Device, Moved), Unsupported>,
    schedule: Option<(SchedStat, u64)>,
    begun: Instant,
    /// CPU time of this thread before the operation that comes next, in ns.
    mark_ns: Cell<u64>,
    /// That which operations took, in ns.
    cpu_ns: Cell<u64>,
    operations: Cell<u64>,
}

/// What a device did per operation, for everybody, and who counted.
pub(super) struct PerOperation {
    /// Bytes that it was given.
    pub(super) written: f64,
    /// Requests to write out its own cache; `None` where they are not counted.
    pub(super) flushes: Option<f64>,
    pub(super) source: String,
}

impl Waits {
    /// Begins to look at this thread and at the device of a file.
    pub(super) fn begin(file: &File) -> Self {
        let schedule = SchedStat::open().and_then(|schedule| {
            let before = schedule.read()?.run_delay_ns;
            Ok((schedule, before))
        });
        Self {
            device: Device::of(file).and_then(|device| {
                let before = device.moved()?;
                Ok((device, before))
            }),
            schedule: schedule.ok(),
            begun: Instant::now(),
            mark_ns: Cell::new(0),
            cpu_ns: Cell::new(0),
            operations: Cell::new(0),
        }
    }

    /// An operation comes next.
    pub(super) fn before(&self) {
        self.mark_ns.set(own_run_ns());
    }

    /// This many operations were made so far. If it is one more than before, nothing was between
    /// but that one.
    pub(super) fn after(&self, operations: u64) {
        let used_ns = own_run_ns().saturating_sub(self.mark_ns.get());
        if operations > self.operations.replace(operations) {
            self.cpu_ns.set(self.cpu_ns.get() + used_ns);
        }
    }

    /// Gives the row its details, and says what the device did meanwhile.
    pub(super) fn end(&self, b: &mut Bencher) -> Result<PerOperation, Unsupported> {
        let operations = self.operations.get().max(1) as f64;
        b.detail("cpu_ns", self.cpu_ns.get() as f64 / operations);
        if let Some((schedule, before)) = &self.schedule {
            let delay_ns = schedule.read()?.run_delay_ns - before;
            b.detail("run_delay_ns", delay_ns as f64 / operations);
        }
        let (device, before) = self.device.as_ref().map_err(Clone::clone)?;
        let now = device.moved()?;
        let busy = Duration::from_millis(now.busy_ms - before.busy_ms);
        let share = busy.as_secs_f64() / self.begun.elapsed().as_secs_f64();
        let per_operation = PerOperation {
            written: (now.written - before.written) as f64 / operations,
            flushes: now
                .flushes
                .map(|flushes| (flushes - before.flushes.unwrap_or(0)) as f64 / operations),
            source: device.source(),
        };
        // It counts in ticks of the kernel's clock.
        b.detail("device_busy_percent", 100.0 * share.min(1.0));
        b.detail("device_written_bytes", per_operation.written);
        Ok(per_operation)
    }

    /// Whether the device keeps what it is given in a cache of its own; `None` where the kernel
    /// does not say.
    pub(super) fn has_volatile_cache(&self) -> Option<bool> {
        let (device, _) = self.device.as_ref().ok()?;
        device.has_volatile_cache()
    }
}

/// Claims that the device was given at least this many bytes per operation: others may have written
/// as well.
pub(super) fn claim_written(
    b: &mut Bencher,
    bytes: u64,
    moved: &Result<PerOperation, Unsupported>,
) {
    let what = "bytes that the device was given per operation";
    match moved {
        Ok(moved) => {
            b.claim_within(
                what,
                Bound::AtLeast(bytes as f64),
                moved.written,
                &moved.source,
            );
        }
        Err(reason) => b.claim_unverified(what, bytes, "", "/sys/dev/block", &reason.to_string()),
    }
}
