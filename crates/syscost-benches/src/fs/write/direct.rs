//! Writes with direct I/O.

use std::cell::RefCell;
use std::fs;

use rustix::fs::OFlags;
use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::files::{self, Alignment};

use crate::fs::overwrite::{Blocks, Overwriter};
use crate::fs::space::{Space, allowed_direct, claim_flag};
use crate::fs::tail::time_tail;
use crate::fs::waits::{self, Charged, MAX_SLEEPS, Waits};

/// Minimum share of the written pages that must have become dirty for writes to count as buffered.
const MIN_BUFFERED: f64 = 0.95;

/// Maximum bytes per write that the thread may be charged for without writing them itself: a page of the file
/// system's metadata becomes dirty now and then, by the times of the file for instance.
const MAX_METADATA: f64 = 256.0;

/// Maximum total of such bytes, whatever the number of writes: with a busy journal, a few pages
/// become dirty again even within a few writes. They are at most a quarter of each write, so twice
/// the bytes never pass.
const MAX_METADATA_IN_ALL: f64 = 4.0 * 4096.0;

pub(super) fn measure(b: &mut Bencher, space: &Space, blocks: Blocks) -> Result<(), Failure> {
    opened(b, space, blocks, OFlags::DIRECT)
}

fn opened(b: &mut Bencher, space: &Space, blocks: Blocks, flags: OFlags) -> Result<(), Failure> {
    let writer = Overwriter::new(b, space, blocks, flags)?;
    let alignment = allowed_direct(writer.file(), blocks.block)?;
    files::drop_cache(writer.file())?;
    b.expect(MAX_SLEEPS);
    let charged = Charged::begin();
    let dirtied = dirtied_pages();
    let waits = Waits::begin(writer.file());
    let writer = RefCell::new(writer);
    let mut prepare = || {
        waits.after(writer.borrow().written());
        writer.borrow_mut().stage_whole();
        waits.before();
        Ok(())
    };
    let mut write = || writer.borrow_mut().write();
    b.single(&mut prepare, &mut write)?;
    time_tail(b, &mut prepare, &mut write)?;
    prepare()?;
    let writer = writer.into_inner();
    let moved = waits.end(b);
    waits::claim_written(b, blocks.block, &moved);
    let what = "bytes that this thread sent to storage per operation";
    match charged.bytes() {
        Ok(0) if moved.is_err() => {
            let reason = "the kernel may not count what this file system sends";
            b.claim_unverified(what, blocks.block, 0_u64, Charged::SOURCE, reason);
        }
        Ok(sent) => {
            let written = writer.written() as f64;
            let sent = sent as f64 / written;
            let metadata = (MAX_METADATA_IN_ALL / written).min(0.25 * blocks.block as f64);
            b.claim_within(
                what,
                Bound::Within(
                    blocks.block as f64,
                    1.02 * blocks.block as f64 + MAX_METADATA + metadata,
                ),
                sent,
                Charged::SOURCE,
            );
        }
        Err(reason) => {
            b.claim_unverified(what, blocks.block, "", Charged::SOURCE, &reason.to_string())
        }
    }
    claim_flag(b, writer.file())?;
    let left = files::resident_pages(writer.file())?;
    b.claim_equal("pages of the file in the page cache", 0, left, "mincore");
    let dirtied = dirtied.and_then(|before| Ok(dirtied_pages()? - before));
    let pages = writer.written() as f64 * (blocks.block as f64 / page_size() as f64).max(1.0);
    claim_not_buffered(b, alignment, dirtied.map(|dirtied| dirtied as f64 / pages));
    writer.claim_content(b, space)
}

/// Some file systems accept O_DIRECT, write through the page cache nevertheless, and evict the pages
/// again, so that the cache shows nothing. But pages became dirty, and the kernel does not report
/// direct I/O for such a file. Other programs dirty pages as well, so both must
/// contradict the claim.
fn claim_not_buffered(
    b: &mut Bencher,
    alignment: Option<Alignment>,
    dirtied: Result<f64, Unsupported>,
) {
    const WHAT: &str = "direct I/O of the file";
    const SOURCE: &str = "statx STATX_DIOALIGN, nr_dirtied of /proc/vmstat";
    match (alignment, dirtied) {
        (Some(alignment), _) => {
            let seen = format!("in multiples of {} bytes", alignment.offset);
            b.claim(WHAT, "yes", seen, SOURCE, true);
        }
        (None, Ok(share)) if share >= MIN_BUFFERED => {
            let seen = "no: the pages of what was written became dirty";
            b.claim(WHAT, "yes", seen, SOURCE, false);
        }
        (None, _) => {
            let reason = "the kernel does not say whether this file system has direct I/O";
            b.claim_unverified(WHAT, "yes", "", SOURCE, reason);
        }
    }
}

/// How many pages of files have become dirty so far, in the whole system.
fn dirtied_pages() -> Result<u64, Unsupported> {
    const PATH: &str = "/proc/vmstat";
    let text = fs::read_to_string(PATH)
        .map_err(|cause| Unsupported::new(format!("reading {PATH}: {cause}")))?;
    let mut counts = text
        .lines()
        .filter_map(|line| line.strip_prefix("nr_dirtied "));
    let count = counts.next().and_then(|count| count.parse().ok());
    count.ok_or_else(|| Unsupported::new(format!("{PATH} has no nr_dirtied")))
}

#[cfg(test)]
mod tests {
    use syscost_harness::bencher::Pass;
    use syscost_results::Verdict;

    use super::*;
    use crate::fs::access::Access;
    use crate::fs::space::tests::{on_disk, refuted};
    use crate::testing::findings;

    /// The claims that are refuted if the file is opened like this; `None` without direct I/O.
    fn refuted_of(flags: OFlags) -> Option<Vec<String>> {
        let blocks = Blocks {
            file: 1 << 20,
            block: 4096,
            access: Access::Random,
        };
        let space = on_disk()?;
        let expect = [calls(Sysno::PWRITE64)];
        match refuted(&expect, |b| opened(b, &space, blocks, flags)) {
            Err(Failure::Unsupported(_)) => None,
            found => Some(found.expect("it can be written")),
        }
    }

    #[test]
    fn writes_through_the_page_cache_are_no_direct_ones() {
        let Some(found) = refuted_of(OFlags::DIRECT) else {
            return println!("skipped: no direct I/O here");
        };
        assert_eq!(found, [""; 0]);
        let found = refuted_of(OFlags::empty()).expect("as before");
        assert!(
            found.iter().any(|claim| claim.contains("O_DIRECT")),
            "{found:?}"
        );
        assert!(
            found.iter().any(|claim| claim.contains("page cache")),
            "{found:?}"
        );
        let found = refuted_of(OFlags::SYNC).expect("as before");
        assert!(
            found.iter().any(|claim| claim.contains("page cache")),
            "{found:?}"
        );
    }

    #[test]
    fn what_is_written_through_the_page_cache_and_taken_out_again_is_found_out() {
        let verdicts = |alignment, dirtied| {
            let found = findings(Pass::Evidence, &[], |b| {
                claim_not_buffered(b, alignment, Ok(dirtied));
                b.observe(|| Ok(1.0))
            });
            found.expect("nothing fails").evidence[0].verdict
        };
        let alignment = Alignment {
            memory: 512,
            offset: 512,
        };
        assert_eq!(verdicts(Some(alignment), 1.0), Verdict::Confirmed);
        assert_eq!(verdicts(None, 0.1), Verdict::Unverified);
        assert_eq!(verdicts(None, 1.0), Verdict::Refuted);
    }
}
