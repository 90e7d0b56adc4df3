//! Overwriting a block of a file.
//!
//! ## Measures
//! One pwrite of a block that has content already, in the order of the file (`sequential`, from the
//! start again at its end) or in random order.
//!
//! - `buffered`: into the page cache, where all pages of the file are present and dirty, so that the
//!   kernel copies the block and does nothing else. Nothing is written back meanwhile.
//! - `direct`: with O_DIRECT. It returns when the device reports that it has the block; nothing of it
//!   is left in the page cache.
//! ## Does not measure
//! Growing a file, and finding blocks for it (`fs.fallocate`). The first write to a clean page.
//! Making sure that the block survives a power failure: a device may keep it in a cache of its own
//! (`fs.sync`).
//! ## Interpretation
//! `buffered` depends on the core and on memory, and the detail `bandwidth_bytes_per_s` is that of
//! a copy. `direct` waits for the device: at most `cpu_ns` of it is work of the core, the rest is the
//! device, which was busy for `device_busy_percent` of the time and received `device_written_bytes`
//! per operation, from all programs. A block smaller than the device's own is read, modified and written by the device.
//! ## Source
//! fio `rw=write` and `rw=randwrite` with `ioengine=psync`, `overwrite=1` and `direct=0` or `1`;
//! lmbench `lmdd`.

use std::fs;

use rustix::fs::OFlags;
use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::files::{self, Alignment};

use super::blocks::{Access, Blocks};
use super::labels;
use super::overwrite::Overwriter;
use super::space::{COUNTED_OF_THREAD, Space, Storage};
use super::transfer::{AFTER, BEFORE, allowed_direct, pages};
use super::waits::{self, MAX_SLEEPS, unwritten_pages};
use crate::witness::files::{DIRECTORY, direct as is_direct};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "File overwrite, sequential and random",
    tags: "sequential write, random write, write in place, pwrite, buffered write, direct i/o, \
        o_direct, page cache, iops, lmdd, fio",
    expect: &[calls(Sysno::PWRITE64)],
    ..Benchmark::of::<FsWrite>()
};

/// Maximum share of the written bytes whose pages may become dirty again without casting doubt on
/// the claim that all of them were dirty.
const MAX_DIRTIED: f64 = 0.01;

/// Up to this share the kernel may have written the file back meanwhile: it does so now and then,
/// not before every other write.
const MAX_WRITTEN_BACK: f64 = 0.5;

const WRITTEN_BACK: &str = "the kernel may have written pages back meanwhile";

const DIRTIED: &str = "share of the written bytes whose pages became dirty anew";

/// Minimum share of the written pages that must have become dirty for writes to count as buffered.
const MIN_BUFFERED: f64 = 0.95;

/// Maximum bytes per write that the thread may be charged for without writing them itself: a page of the file
/// system's metadata becomes dirty now and then, by the times of the file for instance.
const MAX_METADATA: f64 = 256.0;

/// Maximum total of such bytes, whatever the number of writes: with a busy journal, a few pages
/// become dirty again even within a few writes. They are at most a quarter of each write, so twice
/// the bytes never pass.
const MAX_METADATA_IN_ALL: f64 = 4.0 * 4096.0;

/// Where writes go.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Buffered,
    Direct,
}

#[derive(Params, Clone)]
pub(super) struct FsWrite {
    /// The directory's label.
    pub(super) dir: String,
    pub(super) access: Access,
    pub(super) cache: Target,
    /// Bytes of a write.
    pub(super) size: Bytes,
}

impl Measured for FsWrite {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        const SIZES: [Bytes; 4] = [Bytes(512), Bytes::kib(4), Bytes::kib(64), Bytes::mib(1)];
        rows!(FsWrite {
            dir: labels(here),
            cache: Target::ALL,
            access: Access::ALL,
            size: match cache {
                Target::Buffered => SIZES[1..].iter().copied(),
                Target::Direct => SIZES.iter().copied(),
            }
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        // With large blocks the order hardly matters.
        if self.access == Access::Random && self.size > Bytes::kib(64) {
            Profile::Careful
        } else if [Bytes(512), Bytes::kib(64)].contains(&self.size) {
            Profile::Full
        } else {
            Profile::Standard
        }
    }

    fn support(&self, here: &Testbed) -> Result<(), Unsupported> {
        match self.cache {
            Target::Buffered => Ok(()),
            Target::Direct => waits::has_device(here, &self.dir),
        }
    }

    fn ignores_interference(&self) -> bool {
        self.cache == Target::Direct
    }

    fn proofs(&self) -> FsWriteProofs<Proof> {
        let (blocks, call) = (self.blocks(), Sysno::PWRITE64);
        let in_cache = match self.cache {
            Target::Buffered => {
                let least = pages(blocks.least() * self.size.0);
                BEFORE.within(Bound::AtLeast(least as f64))
            }
            Target::Direct => BEFORE.expects(0_u64).and(AFTER.expects(0_u64)),
        };
        FsWriteProofs {
            dir: DIRECTORY.expects(&*self.dir),
            access: blocks.in_order(call),
            cache: in_cache.and(is_direct(self.cache == Target::Direct)),
            size: blocks.sized(call),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let space = Space::in_directory(&mut plan, &self.dir)?;
        match self.cache {
            Target::Buffered => buffered(plan, &space, self.blocks(), OFlags::empty()),
            Target::Direct => direct(plan, &space, self.blocks(), OFlags::DIRECT),
        }
    }
}

impl FsWrite {
    fn blocks(&self) -> Blocks {
        Blocks {
            access: self.access,
            size: self.size,
            all: file_bytes(self.size.0),
        }
    }
}

/// Size of the file, in bytes: a minimum number of blocks, and no more than is written within a moment.
fn file_bytes(block: u64) -> u64 {
    (1024 * block).clamp(1 << 20, (4 << 20).max(8 * block))
}

/// Measures writes to a file that is opened with these flags, which must go into the page cache.
fn buffered<'p>(
    mut plan: Plan<'p>,
    space: &Space,
    blocks: Blocks,
    flags: OFlags,
) -> Result<Outcome<'p>, Failure> {
    let mut writer = Overwriter::new(&mut plan, space, blocks, flags)?;
    let compares = plan.compares();
    for _ in 0..writer.blocks() {
        writer.stage(compares);
        writer.write()?;
    }
    plan.observe(&BEFORE, files::resident_pages(writer.file())?);
    let has_device = !space.filesystem().is_in_memory();
    if has_device {
        let what = "pages of the file that are dirty before the operations";
        let all = pages(writer.blocks() as u64 * blocks.size.0) as f64;
        let dirty = unwritten_pages(writer.file()).map(|pages| pages as f64);
        let open = "the kernel makes whole folios dirty";
        plan.claim_at_least(what, all, dirty, "cachestat", open);
    }
    let storage = Storage::watch(writer.file());
    let before = writer.written();
    let mut outcome = plan.measure(Loop::each(|| {
        writer.stage(compares);
        writer.write()
    }))?;
    outcome.observe(&AFTER, files::resident_pages(writer.file())?);
    if has_device {
        let bytes = (writer.written() - before) * blocks.size.0;
        let dirtied = storage.charged();
        let share = dirtied.map(|dirtied| dirtied as f64 / bytes as f64);
        claim_dirtied(&mut outcome, share);
    }
    outcome.detail_per_second("bandwidth_bytes_per_s", blocks.size.0 as f64);
    writer.claim_content(&mut outcome, space)?;
    Ok(outcome)
}

/// Claims that few pages became dirty: a write to a clean page makes it dirty, and that is counted.
/// Pages are clean where each write goes to the device as well.
fn claim_dirtied(b: &mut Bencher, share: Result<f64, Unsupported>) {
    let most = Bound::AtMost(MAX_DIRTIED);
    match share {
        Err(reason) => b.claim_unobserved(DIRTIED, most.fact(), COUNTED_OF_THREAD, reason),
        Ok(share) => {
            let evidence = Evidence::judged(DIRTIED, most, share, COUNTED_OF_THREAD);
            let may_be = share <= MAX_WRITTEN_BACK;
            b.add_evidence(evidence.tolerated(|| may_be.then_some(WRITTEN_BACK)));
        }
    }
}

/// Measures writes to a file that is opened with these flags, which must bypass the page cache.
fn direct<'p>(
    mut plan: Plan<'p>,
    space: &Space,
    blocks: Blocks,
    flags: OFlags,
) -> Result<Outcome<'p>, Failure> {
    let writer = Overwriter::new(&mut plan, space, blocks, flags)?;
    let size = blocks.size.0;
    let alignment = allowed_direct(writer.file(), size)?;
    files::drop_cache(writer.file())?;
    plan.observe(&BEFORE, files::resident_pages(writer.file())?);
    plan.expect(MAX_SLEEPS);
    let storage = Storage::watch(writer.file());
    let dirtied = dirtied_pages();
    let page = page_size() as f64;
    let (mut outcome, writer, moved) = writer.measure(plan, page, |_| {}, |_| Ok(()))?;
    outcome.observe(&AFTER, files::resident_pages(writer.file())?);
    let what = Claim::by_most("bytes that this thread sent to storage per operation");
    let written = writer.written() as f64;
    let metadata = (MAX_METADATA_IN_ALL / written).min(0.25 * size as f64);
    let bound = Bound::Within(size as f64, 1.02 * size as f64 + MAX_METADATA + metadata);
    let sent = storage.charged().and_then(|sent| match sent {
        0 if moved.is_err() => Err(Unsupported::new(
            "the kernel may not count what this file system sends",
        )),
        sent => Ok(sent as f64 / written),
    });
    outcome.claim_known(what, bound, sent, COUNTED_OF_THREAD);
    let dirtied = dirtied.and_then(|before| Ok(dirtied_pages()? - before));
    let pages = written * (size as f64 / page).max(1.0);
    let share = dirtied.map(|dirtied| dirtied as f64 / pages);
    outcome.add_evidence(not_buffered(alignment, share));
    writer.claim_content(&mut outcome, space)?;
    Ok(outcome)
}

/// Some file systems accept O_DIRECT, write through the page cache nevertheless, and evict the pages
/// again, so that the cache shows nothing. But pages became dirty, and the kernel does not report
/// direct I/O for such a file. Other programs dirty pages as well, so both must
/// contradict the claim.
fn not_buffered(alignment: Option<Alignment>, dirtied: Result<f64, Unsupported>) -> Evidence {
    const WHAT: &str = "direct I/O of the file";
    const SOURCE: &str = "statx STATX_DIOALIGN, nr_dirtied of /proc/vmstat";
    match (alignment, dirtied) {
        (Some(alignment), _) => {
            let seen = format!("in multiples of {} bytes", alignment.offset);
            Evidence::new(WHAT, "yes", seen, SOURCE, Verdict::Confirmed)
        }
        (None, Ok(share)) if share >= MIN_BUFFERED => {
            let seen = "no: the pages of what was written became dirty";
            Evidence::new(WHAT, "yes", seen, SOURCE, Verdict::Refuted)
        }
        (None, _) => Evidence::unobserved(WHAT, "yes", SOURCE)
            .because("the kernel does not say whether this file system has direct I/O"),
    }
}

/// How many pages of files have become dirty so far, in the whole system.
fn dirtied_pages() -> Result<u64, Unsupported> {
    const PATH: &str = "/proc/vmstat";
    let text = fs::read_to_string(PATH)
        .map_err(|cause| Unsupported::new(format!("reading {PATH}: {cause}")))?;
    let mut lines = text.lines();
    let count = lines.find_map(|line| line.strip_prefix("nr_dirtied ")?.parse().ok());
    count.ok_or_else(|| Unsupported::new(format!("{PATH} has no nr_dirtied")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::space::tests::{on_disk, refuted};

    #[test]
    fn writes_that_go_to_the_device_are_no_buffered_ones() {
        let blocks = Blocks {
            access: Access::Sequential,
            size: Bytes::kib(4),
            all: 1 << 20,
        };
        let of = |flags| {
            let space = on_disk()?;
            let expect = [calls(Sysno::PWRITE64)];
            Some(refuted(&expect, |plan| {
                buffered(plan, &space, blocks, flags)
            }))
        };
        let found = or_skip!(of(OFlags::empty()).ok_or("no disk"));
        assert_eq!(found, Ok(Vec::new()));
        let found = of(OFlags::SYNC).expect("as before").expect("it is written");
        assert!(found.contains(&DIRTIED.to_owned()), "{found:?}");
    }

    #[test]
    fn what_is_written_through_the_page_cache_and_taken_out_again_is_found_out() {
        let verdict = |alignment, dirtied| not_buffered(alignment, Ok(dirtied)).verdict;
        let alignment = Alignment {
            memory: 512,
            offset: 512,
        };
        assert_eq!(verdict(Some(alignment), 1.0), Verdict::Confirmed);
        assert_eq!(verdict(None, 0.1), Verdict::Unverified);
        assert_eq!(verdict(None, 1.0), Verdict::Refuted);
    }

    #[test]
    fn a_file_has_blocks_enough_for_a_random_order() {
        for block in [512, 4 << 10, 64 << 10, 1 << 20] {
            let bytes = file_bytes(block);
            assert!(bytes / block >= 8 && bytes.is_multiple_of(block), "{block}");
            assert!(bytes <= 8 << 20, "{block}");
        }
    }
}
