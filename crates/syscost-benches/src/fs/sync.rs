//! Writing a block so that it survives a power failure.
//!
//! ## Measures
//! One pwrite over a block that has content already, in the order of the file, until the device
//! reports that it is durable.
//!
//! - `fsync`, `fdatasync`: the write goes into the page cache, and that call follows. `fsync` also
//!   waits for the file's other metadata, such as its times; `fdatasync` only if the content could
//!   not be found without it.
//! - `dsync`, `sync`: the file is open with O_DSYNC or O_SYNC, so that the write itself does what
//!   `fdatasync` or `fsync` would.
//! ## Does not measure
//! Growing a file, whose new length and blocks have to be made durable as well: overwriting in place, as
//! databases do with their logs, is the cheapest case. Whether the device keeps its promise: what a
//! guest's host or a disk's cache reports as durable may not be.
//! ## Interpretation
//! The number has a long tail, so look at the percentiles: a synced write waits for all other work of
//! the journal and the device. At most `cpu_ns` of it is work of the core; the rest is the device,
//! which was busy for `device_busy_percent` of the time and received `device_written_bytes` per
//! operation, from all programs (journal included).
//! `flushes_per_operation` counts the requests to empty the device's own cache: at least one,
//! unless it has none. It is missing where the kernel does not count them, as for device mapper
//! and software RAID.
//! ## Source
//! fio `fsync=1`, `fdatasync=1` and `sync=dsync`; PostgreSQL's `pg_test_fsync`.

use std::fs::File;

use rustix::fs::{OFlags, fcntl_getfl, fdatasync, fsync};
use syscost_harness::prelude::*;

use super::blocks::{Access, Blocks};
use super::labels;
use super::overwrite::Overwriter;
use super::space::Space;
use super::waits::{self, MAX_JOURNAL, MAX_SLEEPS, PerOperation, unwritten_pages};
use crate::witness::files::DIRECTORY;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "fsync latency: durable write",
    tags: "fdatasync, o_dsync, o_sync, synchronous write, durability, commit latency, \
        write-ahead log, flush, barrier, pg_test_fsync, fio",
    expect: &[calls(Sysno::PWRITE64), MAX_SLEEPS],
    roles: roles!(FsSync { via: Call::Fsync, size, .. } if size == Bytes::kib(4) => Role::Fsync),
    ignores_interference: true,
    ..Benchmark::of::<FsSync>()
};

/// Minimum size of the file, in bytes, and minimum number of its blocks.
const MIN_BYTES: u64 = 1 << 20;
const MIN_BLOCKS: u64 = 8;

/// The C library's value: rustix 1.1 has that of O_SYNC, of which it is a part.
const O_DSYNC: OFlags = OFlags::from_bits_retain(libc::O_DSYNC as u32);

#[derive(Params, Clone)]
pub(super) struct FsSync {
    /// The directory's label.
    pub(super) dir: String,
    pub(super) via: Call,
    /// Bytes of a write.
    pub(super) size: Bytes,
}

impl Measured for FsSync {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        const SIZES: [Bytes; 3] = [Bytes::kib(4), Bytes::kib(64), Bytes::mib(1)];
        rows!(FsSync {
            dir: labels(here),
            via: Call::ALL,
            size: match via {
                Call::Fsync | Call::Fdatasync | Call::Dsync => SIZES.iter().copied(),
                Call::Sync => SIZES[..1].iter().copied(),
            }
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match (self.via == Call::Fsync, self.size) {
            (true, size) if size == Bytes::kib(4) => Profile::Quick,
            (true, size) if size == Bytes::kib(64) => Profile::Full,
            (true, _) => Profile::Standard,
            (false, size) if size == Bytes::kib(64) => Profile::Careful,
            (false, size) if size == Bytes::mib(1) => Profile::Full,
            (false, _) => Profile::Standard,
        }
    }

    fn support(&self, here: &Testbed) -> Result<(), Unsupported> {
        waits::has_device(here, &self.dir)
    }

    fn proofs(&self) -> FsSyncProofs<Proof> {
        let (blocks, call) = (blocks(self.size), Sysno::PWRITE64);
        let follows = Proof::counted(self.via.follows().map(calls));
        FsSyncProofs {
            dir: DIRECTORY.expects(&*self.dir),
            via: OPEN_AS.expects(self.via.opened()).and(follows),
            size: blocks.sized(call).and(blocks.in_order(call)),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let space = Space::in_directory(&mut plan, &self.dir)?;
        let finish = |file: &File| self.via.finish(file);
        measure(plan, &space, self.via, self.size, finish)
    }
}

/// How the file is open, in the words of [`name`].
static OPEN_AS: Witness = Witness::of(
    "O_SYNC and O_DSYNC of the file, as the kernel has it open",
    "fcntl F_GETFL",
);

fn blocks(size: Bytes) -> Blocks {
    Blocks {
        access: Access::Sequential,
        size,
        all: MIN_BYTES.max(MIN_BLOCKS * size.0),
    }
}

/// What makes a write durable.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    Fsync,
    Fdatasync,
    /// O_DSYNC.
    Dsync,
    /// O_SYNC.
    Sync,
}

impl Call {
    /// How the kernel must have the file open, whatever was requested.
    const fn opened(self) -> &'static str {
        match self {
            Self::Fsync | Self::Fdatasync => "neither",
            Self::Dsync => "O_DSYNC",
            Self::Sync => "O_SYNC",
        }
    }

    fn flags(self) -> OFlags {
        match self {
            Self::Dsync => O_DSYNC,
            Self::Sync => OFlags::SYNC,
            Self::Fsync | Self::Fdatasync => OFlags::empty(),
        }
    }

    /// The call that follows a write.
    fn follows(self) -> Option<Sysno> {
        match self {
            Self::Fsync => Some(Sysno::FSYNC),
            Self::Fdatasync => Some(Sysno::FDATASYNC),
            Self::Dsync | Self::Sync => None,
        }
    }

    /// Makes what was written durable, if the write has not done so itself.
    #[inline(always)]
    fn finish(self, file: &File) -> Result<(), Failure> {
        match self {
            Self::Fsync => fsync(file).tried("fsync"),
            Self::Fdatasync => fdatasync(file).tried("fdatasync"),
            Self::Dsync | Self::Sync => Ok(()),
        }
    }
}

/// Measures writes that `finish` makes durable.
fn measure<'p>(
    mut plan: Plan<'p>,
    space: &Space,
    call: Call,
    size: Bytes,
    finish: impl Fn(&File) -> Result<(), Failure>,
) -> Result<Outcome<'p>, Failure> {
    let writer = Overwriter::new(&mut plan, space, blocks(size), call.flags())?;
    let open = fcntl_getfl(writer.file()).tried("fcntl")?;
    plan.observe(&OPEN_AS, name(open & OFlags::SYNC));
    let mut unwritten = Ok::<u64, Unsupported>(0);
    let look = |file: &File| {
        let left = unwritten_pages(file);
        unwritten = unwritten.clone().and_then(|most| Ok(left?.max(most)));
    };
    let (mut outcome, writer, moved) = writer.measure(plan, MAX_JOURNAL, look, finish)?;
    let what = "pages of the file that are not written back after an operation, at most";
    let unwritten = unwritten.map(|left| left as f64);
    outcome.claim_known(what, Bound::Exactly(0.0), unwritten, "cachestat");
    if let Ok(moved) = &moved {
        if let Some(flushes) = moved.flushes {
            outcome.detail("flushes_per_operation", flushes);
        }
        if moved.has_volatile_cache == Some(true) {
            outcome.add_evidence(flushed(&space.filesystem().options, moved));
        }
    }
    writer.claim_content(&mut outcome, space)?;
    Ok(outcome)
}

/// A device with a cache of its own receives a request to flush it after each write. Other programs
/// may send such requests, too, but each operation waits for a request that began after it did.
fn flushed(options: &str, moved: &PerOperation) -> Evidence {
    let what = Claim::by_most("requests to flush the device's own cache per operation");
    let (expected, source) = (Bound::AtLeast(1.0), &moved.source);
    let Some(flushes) = moved.flushes else {
        let reason = "the kernel has counted none of this device so far, or never does";
        return Evidence::unobserved(what, expected.fact(), source).because(reason);
    };
    let mut options = options.split(',');
    let for_none = options.find(|option| ["nobarrier", "barrier=0"].contains(option));
    let reason = for_none
        .map(|option| format!("it is mounted with {option}: the device's cache is never flushed"));
    Evidence::judged(what, expected, flushes, source).unless(reason)
}

fn name(flags: OFlags) -> &'static str {
    if flags.contains(OFlags::SYNC) {
        "O_SYNC"
    } else if flags.contains(O_DSYNC) {
        "O_DSYNC"
    } else {
        "neither"
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::fs::space::tests::{on_disk, refuted};

    #[test]
    fn a_write_that_nothing_makes_safe_is_found_out() {
        let space = or_skip!(on_disk().ok_or("no disk"));
        let expect = [calls(Sysno::PWRITE64), MAX_SLEEPS];
        let found = refuted(&expect, |plan| {
            measure(plan, &space, Call::Fsync, Bytes::kib(4), |_| Ok(()))
        });
        let found = found.expect("it can be written");
        let is_missed = |claim: &String| claim.contains("not written back");
        assert!(found.iter().any(is_missed), "{found:?}");
    }

    #[test]
    fn flushes_that_are_not_counted_refute_nothing() {
        for (flushes, options, verdict) in [
            (Some(1.0), "rw", Verdict::Confirmed),
            (Some(0.5), "rw", Verdict::Refuted),
            (Some(0.0), "rw,nobarrier", Verdict::Unverified),
            (None, "rw", Verdict::Unverified),
        ] {
            let moved = PerOperation {
                written: 4096.0,
                flushes,
                has_volatile_cache: Some(true),
                source: String::new(),
            };
            let judged = flushed(options, &moved).verdict;
            assert_eq!(judged, verdict, "{flushes:?} {options}");
        }
    }
}
