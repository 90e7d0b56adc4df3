//! Shared: what operations on a device wait for: claims that it received what was written, and
//! details that distinguish its noise from the core's.

use std::cell::Cell;
use std::fs::File;
use std::time::{Duration, Instant};

use syscost_harness::prelude::*;
use syscost_results::Evidence;
use syscost_sys::counters::{IoReader, SchedStat, own_run_ns};
use syscost_sys::files::{self, Device, Moved};

use super::filesystem;

/// Maximum number of sleeps: the journal, the block and the device's cache may each be waited for,
/// and in addition the file system's threads.
pub(super) const MAX_SLEEPS: Expect = at_most(Counter::VoluntarySwitches, 20.0);

/// Whether the files of the directory of this label lie on a device at all.
pub(super) fn has_device(here: &Here, label: &str) -> Result<(), Unsupported> {
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
/// `cpu_ns`, `run_delay_ns`, `device_busy_percent` and `device_written_bytes`.
///
/// `cpu_ns` is an upper bound for an operation's CPU time: the sampling itself works a little between an
/// operation and [`Waits::after`], which comes with the preparation of the next.
pub(super) struct Waits {
    device: Result<Device, Unsupported>,
    schedule: Option<SchedStat>,
    begun: Seen,
    /// What passed during work that belongs to no operation.
    left_out: Cell<Passed>,
    /// CPU time of this thread before the next operation, in ns.
    mark_ns: Cell<u64>,
    /// CPU time that operations took, in ns.
    cpu_ns: Cell<u64>,
    operations: Cell<u64>,
}

/// The counts at one moment.
struct Seen {
    at: Instant,
    run_delay_ns: Option<u64>,
    moved: Result<Moved, Unsupported>,
}

/// What passed between two moments, of which the kernel may count only a part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Passed {
    time: Duration,
    run_delay_ns: u64,
    written: u64,
    flushes: u64,
    busy_ms: u64,
}

impl Passed {
    fn between(before: &Seen, after: &Seen) -> Self {
        let (run_before, run_after) = (before.run_delay_ns, after.run_delay_ns);
        let moved = |count: fn(&Moved) -> u64| match (&before.moved, &after.moved) {
            (Ok(before), Ok(after)) => count(after).saturating_sub(count(before)),
            (_, _) => 0,
        };
        Self {
            time: after.at - before.at,
            run_delay_ns: run_after
                .unwrap_or(0)
                .saturating_sub(run_before.unwrap_or(0)),
            written: moved(|moved| moved.written),
            flushes: moved(|moved| moved.flushes.unwrap_or(0)),
            busy_ms: moved(|moved| moved.busy_ms),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            time: self.time + other.time,
            run_delay_ns: self.run_delay_ns + other.run_delay_ns,
            written: self.written + other.written,
            flushes: self.flushes + other.flushes,
            busy_ms: self.busy_ms + other.busy_ms,
        }
    }

    fn without(self, other: Self) -> Self {
        Self {
            time: self.time.saturating_sub(other.time),
            run_delay_ns: self.run_delay_ns.saturating_sub(other.run_delay_ns),
            written: self.written.saturating_sub(other.written),
            flushes: self.flushes.saturating_sub(other.flushes),
            busy_ms: self.busy_ms.saturating_sub(other.busy_ms),
        }
    }
}

/// What a device did per operation, for all programs, and the source of that.
pub(super) struct PerOperation {
    /// Bytes written to it.
    pub(super) written: f64,
    /// Requests to flush its own cache; `None` where they are not counted.
    pub(super) flushes: Option<f64>,
    pub(super) source: String,
}

impl Waits {
    /// Starts watching this thread and the device of a file.
    pub(super) fn begin(file: &File) -> Self {
        let (device, schedule) = (Device::of(file), SchedStat::open().ok());
        Self {
            begun: seen(&device, schedule.as_ref()),
            device,
            schedule,
            left_out: Cell::default(),
            mark_ns: Cell::new(0),
            cpu_ns: Cell::new(0),
            operations: Cell::new(0),
        }
    }

    /// Marks the beginning of the next operation.
    pub(super) fn before(&self) {
        self.mark_ns.set(own_run_ns());
    }

    /// Does work that belongs to no operation, and excludes what passes meanwhile.
    pub(super) fn leave_out(
        &self,
        work: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let before = seen(&self.device, self.schedule.as_ref());
        work()?;
        let after = seen(&self.device, self.schedule.as_ref());
        let passed = Passed::between(&before, &after);
        self.left_out.set(self.left_out.get().plus(passed));
        Ok(())
    }

    /// Records that this many operations have been made so far. If it is one more than before, the
    /// time since the mark was spent on that one, and on looking at the core and the kernel after
    /// it was timed.
    pub(super) fn after(&self, operations: u64) {
        let used_ns = own_run_ns().saturating_sub(self.mark_ns.get());
        if operations > self.operations.replace(operations) {
            self.cpu_ns.set(self.cpu_ns.get() + used_ns);
        }
    }

    /// Gives the row its details, and returns what the device did meanwhile.
    pub(super) fn end(&self, b: &mut Bencher) -> Result<PerOperation, Unsupported> {
        let operations = self.operations.get().max(1) as f64;
        b.detail("cpu_ns", self.cpu_ns.get() as f64 / operations);
        let now = seen(&self.device, self.schedule.as_ref());
        let passed = Passed::between(&self.begun, &now).without(self.left_out.get());
        if self.begun.run_delay_ns.and(now.run_delay_ns).is_some() {
            b.detail("run_delay_ns", passed.run_delay_ns as f64 / operations);
        }
        let device = self.device.as_ref().map_err(Clone::clone)?;
        for seen in [&self.begun, &now] {
            seen.moved.as_ref().map_err(Clone::clone)?;
        }
        let busy = Duration::from_millis(passed.busy_ms);
        let share = busy.as_secs_f64() / passed.time.as_secs_f64();
        let counted = now.moved.as_ref().ok().and_then(|moved| moved.flushes);
        let per_operation = PerOperation {
            written: passed.written as f64 / operations,
            flushes: counted.map(|_| passed.flushes as f64 / operations),
            source: device.source(),
        };
        // The kernel counts in ticks of its clock.
        b.detail("device_busy_percent", 100.0 * share.min(1.0));
        b.detail("device_written_bytes", per_operation.written);
        Ok(per_operation)
    }

    /// Whether the device keeps written data in a cache of its own; `None` where the kernel
    /// does not say.
    pub(super) fn has_volatile_cache(&self) -> Option<bool> {
        let device = self.device.as_ref().ok()?;
        device.has_volatile_cache()
    }
}

fn seen(device: &Result<Device, Unsupported>, schedule: Option<&SchedStat>) -> Seen {
    Seen {
        at: Instant::now(),
        run_delay_ns: schedule.and_then(|schedule| Some(schedule.read().ok()?.run_delay_ns)),
        moved: device
            .as_ref()
            .map_err(Clone::clone)
            .and_then(Device::moved),
    }
}

/// What this thread dirties or sends to storage itself, as the kernel charges it: `write_bytes`.
pub(super) struct Charged(Result<(IoReader, u64), Unsupported>);

impl Charged {
    /// The source of these counts.
    pub(super) const SOURCE: &str = "/proc/thread-self/io";

    /// Starts counting.
    pub(super) fn begin() -> Self {
        Self(IoReader::of_thread().and_then(|io| {
            let before = io.read()?.write_bytes;
            Ok((io, before))
        }))
    }

    /// Bytes since the start.
    ///
    /// # Errors
    /// Where the kernel does not say.
    pub(super) fn bytes(&self) -> Result<u64, Unsupported> {
        let (io, before) = self.0.as_ref().map_err(Clone::clone)?;
        Ok(io.read()?.write_bytes - before)
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
pub(crate) fn claim_moved(
    b: &mut Bencher,
    claim: impl Into<Claim>,
    (least, most): (f64, f64),
    moved: f64,
    source: &str,
) {
    let bound = match b.is_timed() {
        true => Bound::Within(least, most),
        false => Bound::AtLeast(least),
    };
    let evidence = Evidence::judged(claim, bound, moved, source);
    b.add_evidence(evidence.tolerated(|| (moved > most).then_some(OTHERS)));
}

/// Claims that the device received at least this many bytes per operation, and at most `most`.
pub(super) fn claim_written(
    b: &mut Bencher,
    bytes: u64,
    most: f64,
    moved: &Result<PerOperation, Unsupported>,
) {
    let what = Claim::by_most("bytes that the device was given per operation");
    match moved {
        Ok(moved) => claim_moved(b, what, (bytes as f64, most), moved.written, &moved.source),
        Err(reason) => b.claim_unobserved(what, bytes, "/sys/dev/block", reason),
    }
}

#[cfg(test)]
mod tests {
    use syscost_harness::bencher::Pass;
    use syscost_results::Verdict;

    use super::*;
    use crate::testing;

    #[test]
    fn what_others_move_is_not_confirmed() {
        let verdict = |pass, moved| {
            let findings = testing::findings_by(&Case::default(), pass, &[], |plan| {
                let mut outcome = plan.measure(Observed::of(|| Ok(1.0)))?;
                claim_moved(&mut outcome, "moved", (1.0, MAX_MOVED), moved, "device");
                Ok(outcome)
            });
            let evidence = findings.expect("measured").evidence.pop();
            let evidence = evidence.expect("judged");
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

    fn at(begun: Instant, ms: u64, count: u64) -> Seen {
        Seen {
            at: begun + Duration::from_millis(ms),
            run_delay_ns: Some(10 * count),
            moved: Ok(Moved {
                written: 512 * count,
                flushes: Some(count),
                busy_ms: ms / 2,
                ..Moved::default()
            }),
        }
    }

    #[test]
    fn what_is_left_out_is_no_operations() {
        let begun = Instant::now();
        let seen = [
            at(begun, 0, 5),
            at(begun, 10, 8),
            at(begun, 50, 100),
            at(begun, 60, 101),
        ];
        let all = Passed::between(&seen[0], &seen[3]);
        let renewed = Passed::between(&seen[1], &seen[2]);
        let rest = Passed {
            time: Duration::from_millis(20),
            run_delay_ns: 40,
            written: 512 * 4,
            flushes: 4,
            busy_ms: 10,
        };
        assert_eq!(all.without(renewed), rest);
        assert_eq!(rest.plus(renewed), all);
    }

    #[test]
    fn where_there_is_no_device_only_time_passes() {
        let begun = Instant::now();
        let nothing = |ms| Seen {
            at: begun + Duration::from_millis(ms),
            run_delay_ns: None,
            moved: Err(Unsupported::new("in memory")),
        };
        let passed = Passed::between(&nothing(0), &nothing(3));
        let time = Duration::from_millis(3);
        assert_eq!(
            passed,
            Passed {
                time,
                ..Passed::default()
            }
        );
    }

    #[test]
    fn work_between_operations_takes_none_of_their_time() {
        let Ok(file) = File::open("/") else {
            return println!("skipped: no root folder");
        };
        let waits = Waits::begin(&file);
        let slept = Duration::from_millis(5);
        let work = || {
            std::thread::sleep(slept);
            Ok(())
        };
        waits.leave_out(work).expect("nothing fails");
        assert!(waits.left_out.get().time >= slept);
    }
}
