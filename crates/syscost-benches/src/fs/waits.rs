//! Shared: what operations on a device wait for: claims that it received what was written, and
//! details that distinguish its noise from the core's; and whether each waits at all.

use std::cell::Cell;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Instant;

use rustix::fs::fsync;
use rustix::io::Errno;
use syscost_harness::prelude::*;
use syscost_sys::counters::own_run_ns;
use syscost_sys::files::{self, Device, Filesystem};

use super::filesystem;
use super::transfer::measure_each;

/// Maximum number of sleeps: the journal, the block and the device's cache may each be waited for,
/// and in addition the file system's threads.
pub(super) const MAX_SLEEPS: Expect = at_most(Counter::VoluntarySwitches, 20.0);

pub(super) fn has_device(here: &Testbed, label: &str) -> Result<(), Unsupported> {
    match filesystem(here, label) {
        Some(found) if found.is_in_memory() => Err(Unsupported::new(format!(
            "files of {} are nowhere but in memory: there is no device to wait for",
            found.kind
        ))),
        Some(_) | None => Ok(()),
    }
}

/// How many pages of a file have not been written to its device yet.
pub(super) fn unwritten_pages(file: &File) -> Result<u64, Unsupported> {
    let cached = files::cachestat(file)?;
    if cached.pages == 0 && files::resident_pages(file)? > 0 {
        let reason =
            "cachestat sees no page of this file: overlayfs caches those of the file below";
        return Err(Unsupported::new(reason));
    }
    Ok(cached.dirty + cached.writeback)
}

/// Looks at a device, and at this thread, before and after operations. It gives a row the details
/// `cpu_ns`, `device_busy_percent` and `device_written_bytes`.
///
/// `cpu_ns` is an upper bound for an operation's CPU time: the sampling itself works a little between an
/// operation and the preparation of the next.
pub(super) struct Waits {
    /// A device whose counts cannot be read is none.
    device: Result<Device, Unsupported>,
    since: Instant,
    begun: Counts,
    /// What passed during work that belongs to no operation.
    left_out: Cell<Counts>,
}

/// The counts at one moment, or what passed between two; 0 where the kernel does not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    time_ns: u64,
    written: u64,
    flushes: u64,
    busy_ms: u64,
}

impl Counts {
    fn with(self, other: Self, count: fn(u64, u64) -> u64) -> Self {
        Self {
            time_ns: count(self.time_ns, other.time_ns),
            written: count(self.written, other.written),
            flushes: count(self.flushes, other.flushes),
            busy_ms: count(self.busy_ms, other.busy_ms),
        }
    }

    fn plus(self, other: Self) -> Self {
        self.with(other, u64::wrapping_add)
    }

    fn minus(self, other: Self) -> Self {
        self.with(other, u64::saturating_sub)
    }
}

/// What a device did per operation, for all programs, and the source of that.
pub(super) struct PerOperation {
    pub(super) written: f64,
    /// Requests to flush its own cache; `None` where they are not counted.
    pub(super) flushes: Option<f64>,
    /// Whether it keeps written data in a cache of its own; `None` where the kernel does not say.
    pub(super) has_volatile_cache: Option<bool>,
    pub(super) source: String,
}

impl Waits {
    pub(super) fn begin(file: &File) -> Self {
        let mut waits = Self {
            device: Device::of(file).and_then(|device| device.moved().map(|_| device)),
            since: Instant::now(),
            begun: Counts::default(),
            left_out: Cell::default(),
        };
        waits.begun = waits.now();
        waits
    }

    fn now(&self) -> Counts {
        let device = self.device.as_ref().ok();
        let moved = device.and_then(|device| device.moved().ok());
        let moved = moved.unwrap_or_default();
        Counts {
            time_ns: self.since.elapsed().as_nanos() as u64,
            written: moved.written,
            flushes: moved.flushes.unwrap_or(0),
            busy_ms: moved.busy_ms,
        }
    }

    /// Does work that belongs to no operation, and excludes what passes meanwhile.
    pub(super) fn leave_out(
        &self,
        work: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let before = self.now();
        work()?;
        let passed = self.now().minus(before);
        self.left_out.set(self.left_out.get().plus(passed));
        Ok(())
    }

    /// Measures operations of which the device receives from `least` to `most` bytes each, one by
    /// one, and claims that. `prepare` is called before each of them, untimed, and after the last.
    /// With `has_tail` further ones are timed for the row's histogram.
    pub(super) fn measure<'p>(
        self,
        plan: Plan<'p>,
        has_tail: bool,
        (least, most): (f64, f64),
        mut prepare: impl FnMut(&Self) -> Result<(), Failure>,
        mut operate: impl FnMut() -> Result<(), Failure>,
    ) -> Result<(Outcome<'p>, Result<PerOperation, Unsupported>), Failure> {
        // CPU time of this thread before the next operation, and what operations took, in ns.
        let (mark_ns, cpu_ns) = (Cell::new(0), Cell::new(0));
        let (made, known) = (Cell::new(0_u64), Cell::new(0));
        let mut prepare = || {
            let used_ns = own_run_ns().saturating_sub(mark_ns.get());
            if made.get() > known.replace(made.get()) {
                cpu_ns.set(cpu_ns.get() + used_ns);
            }
            prepare(&self)?;
            mark_ns.set(own_run_ns());
            Ok(())
        };
        let operate = || {
            operate()?;
            made.set(made.get() + 1);
            Ok(())
        };
        let mut outcome = match has_tail {
            true => measure_each(plan, &mut prepare, operate)?,
            false => plan.measure(Single::of(&mut prepare, operate))?,
        };
        prepare()?;
        let operations = made.get().max(1) as f64;
        outcome.detail("cpu_ns", cpu_ns.get() as f64 / operations);
        let moved = self.end(&mut outcome, operations);
        let what = Claim::by_most("bytes that the device was given per operation");
        let source = moved
            .as_ref()
            .map_or("/sys/dev/block", |moved| &moved.source);
        let written = moved.as_ref().map(|moved| moved.written);
        claim_device_moved(
            &mut outcome,
            what,
            (least, most),
            written.map_err(Clone::clone),
            source,
        );
        Ok((outcome, moved))
    }

    /// Gives the row its details, and returns what the device did for each of these operations.
    fn end(&self, b: &mut Bencher, operations: f64) -> Result<PerOperation, Unsupported> {
        let passed = self.now().minus(self.begun).minus(self.left_out.get());
        let device = self.device.as_ref().map_err(Clone::clone)?;
        let per_operation = PerOperation {
            written: passed.written as f64 / operations,
            flushes: (device.moved()?.flushes).map(|_| passed.flushes as f64 / operations),
            has_volatile_cache: device.has_volatile_cache(),
            source: device.source(),
        };
        // The kernel counts in ticks of its clock.
        let busy = 1e6 * passed.busy_ms as f64 / passed.time_ns as f64;
        b.detail("device_busy_percent", 100.0 * busy.min(1.0));
        b.detail("device_written_bytes", per_operation.written);
        Ok(per_operation)
    }
}

/// Maximum of the bytes that a device moves for a row, as a multiple of those that the row asks for.
pub(crate) const MAX_MOVED: f64 = 1.5;

/// Maximum bytes that a file system writes for one operation to be on the device, besides its data:
/// journals and trees, which btrfs keeps twice.
pub(crate) const MAX_JOURNAL: f64 = 256.0 * 1024.0;

const OTHERS: &str = "more than the row asked for: other programs use this device, or the file system writes data twice";

/// Claims that a device moved at least the bytes asked for, and no more than the row itself may
/// cause: what is beyond that others did, and the row waited for them. Where operations are
/// counted, the audited copies of this process move bytes as well, and only the minimum holds.
pub(crate) fn claim_device_moved(
    b: &mut Bencher,
    claim: impl Into<Claim>,
    (least, most): (f64, f64),
    moved: Result<f64, Unsupported>,
    source: &str,
) {
    let bound = match b.is_timed() {
        true => Bound::Within(least, most),
        false => Bound::AtLeast(least),
    };
    match moved {
        Err(reason) => b.claim_unobserved(claim, bound.fact(), source, reason),
        Ok(moved) => {
            let evidence = Evidence::judged(claim, bound, moved, source);
            b.add_evidence(evidence.tolerated(|| (moved > most).then_some(OTHERS)));
        }
    }
}

/// What follows each operation.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sync {
    /// Nothing: the kernel writes back in its own time.
    None,
    /// fsync: the change is on the device.
    Fsync,
}

impl Sync {
    pub(super) fn is_of_the_device(self) -> bool {
        self == Sync::Fsync
    }

    /// Whether there is a device to wait for in the directory of this label, if it is waited for.
    pub(super) fn support(self, here: &Testbed, label: &str) -> Result<(), Unsupported> {
        match self {
            Sync::None => Ok(()),
            Sync::Fsync => has_device(here, label),
        }
    }

    /// Waits for the device, if that is part of the operation.
    #[inline(always)]
    pub(super) fn wait(self, file: impl AsFd) -> Result<(), Errno> {
        match self {
            Sync::None => Ok(()),
            Sync::Fsync => fsync(file),
        }
    }

    /// Proof by whether fsync is called, once for each operation.
    pub(super) fn proof(self) -> Proof {
        Proof::counted(self.is_of_the_device().then_some(calls(Sysno::FSYNC)))
    }

    /// Expects that what is synced is this file or directory, or something else, where anything is.
    pub(super) fn expect_synced(
        self,
        plan: &mut Plan,
        given: fn(u64) -> ArgumentValue,
        file: &OwnedFd,
    ) {
        if self.is_of_the_device() {
            let given = given(file.as_raw_fd() as u64);
            plan.expect_argument(Sysno::FSYNC, Argument::at(0, "descriptor"), given);
        }
    }
}

/// Allows what an operation that changes nothing may do besides its calls: ask a server, if there is one.
pub(super) fn expect_answers(plan: &mut Plan, filesystem: &Filesystem) {
    if filesystem.is_remote() {
        plan.expect(MAX_SLEEPS);
    }
}

/// The bytes that the device receives for each operation, at least and at most, where other
/// programs write little: that fsync was called, and on what, is shown by the audit.
pub(super) const DELIVERED: (f64, f64) = (512.0, MAX_JOURNAL);

/// Syncs a directory, so that its preparation is not part of the measurement. Not every
/// file system can do that.
pub(super) fn settle(directory: &OwnedFd) -> Result<(), Failure> {
    fsync(directory).map_err(|cause| match cause {
        Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP => Failure::Unsupported(format!(
            "this file system has no fsync of a directory: {cause}"
        )),
        cause => Failure::of("fsync a directory", cause),
    })
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::testing::judged;

    #[test]
    fn what_others_move_is_not_confirmed() {
        let verdict = |pass, moved| {
            let mut found = judged(pass, |b| {
                claim_device_moved(b, "moved", (1.0, MAX_MOVED), Ok(moved), "device");
            });
            let evidence = found.evidence.pop().expect("judged");
            (evidence.verdict, evidence.reason)
        };
        let others = Some(OTHERS.to_owned());
        assert_eq!(verdict(Pass::Timed, 1.2), (Verdict::Confirmed, None));
        assert_eq!(verdict(Pass::Timed, 270.47), (Verdict::Unverified, others));
        assert_eq!(verdict(Pass::Timed, 0.9), (Verdict::Refuted, None));
        assert_eq!(verdict(Pass::Timed, f64::NAN), (Verdict::Refuted, None));
        // An audited copy has read as well.
        assert_eq!(verdict(Pass::Evidence, 2.2), (Verdict::Confirmed, None));
    }

    #[test]
    fn what_is_left_out_is_no_operations() {
        let at = |ms: u64, count: u64| Counts {
            time_ns: 1_000_000 * ms,
            written: 512 * count,
            flushes: count,
            busy_ms: ms / 2,
        };
        let (begun, ended) = (at(0, 5), at(60, 101));
        let renewed = at(50, 100).minus(at(10, 8));
        assert_eq!(ended.minus(begun).minus(renewed), at(20, 4));
    }

    #[test]
    fn work_between_operations_takes_none_of_their_time() {
        let file = or_skip!(File::open("/"), "no root folder");
        let waits = Waits::begin(&file);
        let slept = std::time::Duration::from_millis(5);
        let work = || {
            std::thread::sleep(slept);
            Ok(())
        };
        waits.leave_out(work).expect("nothing fails");
        assert!(waits.left_out.get().time_ns >= slept.as_nanos() as u64);
    }
}
