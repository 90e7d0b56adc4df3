//! How large a file may be and still be re-read from the page cache.
//!
//! ## Measures
//! A file grows, and is read again from its beginning to its end after each growth, until
//! re-reading it fetches bytes from storage because the page cache could not keep it. Sizes are doubled while
//! they are far below what memory is expected to hold, and then four to an octave; the number is
//! the midpoint between the largest size that was kept and the smallest that was not, and the
//! interval includes both.
//! ## Does not measure
//! How the kernel chooses what to evict. A file that is read from its beginning to its end loses
//! all of it as soon as it is a little too large, because the oldest pages are the ones needed next.
//! ## Interpretation
//! A memory control group limits its processes' page cache, too: `memory_limit_bytes` is the
//! tightest such limit, and `mem_available_bytes` the memory that is available without swapping
//! according to the kernel. What the file pushes out of memory is other programs' cache. A large
//! memory cannot be filled within the time of a row: it then says *larger than* the largest size
//! that was re-read from the cache; the careful profile takes more time, and a study that is run with
//! `--thorough` searches until the limit is found or the disk ends. `read_64M_bytes_per_s` is how fast a
//! file of 64 MiB was re-read.
//! ## Source
//! lmbench `bw_file_rd`; proc_meminfo(5) on MemAvailable.

mod grown;
mod search;

use std::time::{Duration, Instant};

use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_harness::targets::THOROUGH_SEARCH;
use syscost_results::Evidence;
use syscost_results::curve::reread_detail;
use syscost_sys::memory;

use self::grown::{Grown, Halt, Reread};
use self::search::Search;
use super::labels;
use super::space::Space;
use crate::witness::files::DIRECTORY;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Page cache size, by re-reading a growing file",
    tags: &[
        "buffer cache",
        "cache capacity",
        "file cache",
        "memory pressure",
    ],
    unit: Unit::Bytes,
    better: Better::Higher,
    setup: Setup::Expensive { seconds: 0.8 },
    ..Benchmark::of::<Row>()
};

/// Time of a search that cannot find the limit, and maximum time of one that can.
const SHORT: Duration = Duration::from_millis(600);
const LONG: Duration = Duration::from_secs(5);

/// Time that a search may take if it may not find the limit, as a multiple of the profile's time for
/// the samples of a case.
const OF_CASE: f64 = 60.0;

/// Assumed number of passes over each byte up to the limit: it is written once, and read a few times.
const PASSES: f64 = 3.0;

/// Minimum share of a file's pages in the cache for its size to count as kept.
const KEPT: f64 = 0.99;

#[derive(Params, Clone)]
struct Row {
    /// The directory's label.
    dir: String,
}

impl Measured for Row {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Here) -> Vec<Case<Self>> {
        rows!(Row { dir: labels(here) })
    }

    fn profile(&self, _: &Here) -> Profile {
        // Up to a second in each round, for one row.
        Profile::Full
    }

    fn ignores_interference(&self) -> bool {
        true
    }

    fn proofs(&self) -> RowProofs<Proof> {
        RowProofs {
            dir: DIRECTORY.sees(&*self.dir),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let space = Space::in_directory(&mut plan, &self.dir)?;
        space.has_storage()?;
        let seed = plan.random().u64(..);
        let mut file = Grown::new(&space, seed, !plan.is_timed())?;
        let Found { search, seen, why } = find(&plan, &mut file)?;
        let Some(kept) = search.kept() else {
            let least = search.lost().unwrap_or_default() >> 20;
            let is_lost = || format!("not even a file of {least} MiB stays in the page cache");
            let reason = why.map(|why| format!("no file was re-read: {why}"));
            return Err(Failure::Unsupported(reason.unwrap_or_else(is_lost)));
        };
        let value = match search.lost() {
            Some(lost) => {
                plan.limits(kept as f64, lost as f64);
                (kept as f64 * lost as f64).sqrt()
            }
            None => {
                plan.larger(why.unwrap_or_else(|| "no file can be larger".to_owned()));
                kept as f64
            }
        };
        // One search is one observation, however often it is requested.
        let mut outcome = plan.measure(Observed::of(|| Ok(value)))?;
        let of = |bytes: Option<u64>| seen.iter().rfind(|reread| Some(reread.bytes) == bytes);
        if let Some(reread) = of(search.kept()) {
            claim_kept(&mut outcome, &space, reread);
            claim_delivered(&mut outcome, reread);
        }
        if let Some(reread) = of(search.lost()) {
            claim_lost(&mut outcome, reread);
            claim_delivered(&mut outcome, reread);
        }
        describe(&mut outcome, &seen);
        Ok(outcome)
    }
}

/// The result of a search.
struct Found {
    search: Search,
    seen: Vec<Reread>,
    /// Why it ended before it was complete, if it did.
    why: Option<String>,
}

/// Re-reads one size after another until the limit is known to lie between two neighbouring sizes, or
/// time or space runs out.
fn find(b: &Bencher, file: &mut Grown<'_>) -> Result<Found, Failure> {
    let expected = memory::available_bytes().unwrap_or(u64::MAX);
    let (short, long) = match b.targets().thorough {
        true => (THOROUGH_SEARCH, THOROUGH_SEARCH),
        false => {
            let of_case = Duration::from_nanos((OF_CASE * b.case_ns()) as u64);
            (of_case.clamp(SHORT, LONG), LONG)
        }
    };
    let begun = Instant::now();
    file.deadline = begun + short;
    let (mut search, mut seen, mut why) = (Search::new(expected), Vec::new(), None);
    while let Some(bytes) = search.next() {
        match file.reread(bytes) {
            Ok(reread) => {
                search.note(reread.is_kept());
                seen.push(reread);
            }
            Err(Halt::Failed(failure)) => return Err(failure),
            Err(Halt::Time) => {
                why = Some(format!("its {:.1} s ended", begun.elapsed().as_secs_f64()));
                break;
            }
            Err(Halt::Room(reason)) => {
                why = Some(reason);
                break;
            }
        }
        let all_s = PASSES * expected as f64 / file.write_rate;
        if seen.len() == 1 && all_s < long.as_secs_f64() {
            file.deadline = begun + long;
        }
    }
    Ok(Found { search, seen, why })
}

fn pages(reread: &Reread) -> u64 {
    reread.bytes / page_size() as u64
}

/// Claims that all of a file was in the page cache after it was re-read without fetching anything.
fn claim_kept(b: &mut Bencher, space: &Space, reread: &Reread) {
    // Reading the counters is a read as well.
    b.claim_within(
        "share of the largest size kept that reads returned",
        Bound::Within(1.0, 1.01),
        reread.returned as f64 / reread.bytes as f64,
        "/proc/thread-self/io",
    );
    let what = "share of the largest size kept that is in the page cache";
    let share = |found: u64| found as f64 / pages(reread) as f64;
    let bound = Bound::Within(KEPT, 1.0);
    b.claim_within(what, bound, share(reread.resident), "mincore");
    // Without the call nothing is seen; on overlay its pages belong to the file below.
    let cached = reread
        .cached
        .map(share)
        .ok_or("the kernel has no such call");
    let is_overlay = space.filesystem().kind == "overlay";
    match (cached, is_overlay) {
        (Ok(cached), true) => {
            let reason = "overlay counts them for the file below";
            b.claim_unverified(what, bound.fact(), cached, "cachestat", reason);
        }
        (cached, _) => b.claim_known(what, bound, cached, "cachestat"),
    }
}

/// Claims that some of a file was not in the page cache after it was re-read, and some of it
/// fetched.
fn claim_lost(b: &mut Bencher, reread: &Reread) {
    let what = "pages of the smallest size not kept that are in the page cache";
    let most = pages(reread) as f64 - 1.0;
    let resident = reread.resident as f64;
    b.claim_within(what, Bound::AtMost(most), resident, "mincore");
}

/// Claims that the device delivered what was fetched. Other programs may read as well.
fn claim_delivered(b: &mut Bencher, reread: &Reread) {
    let (what, bound) = match reread.is_kept() {
        true => (
            "bytes that the device delivered while the largest size kept was re-read",
            Bound::AtMost((1.0 - KEPT) * reread.bytes as f64),
        ),
        false => (
            "bytes that the device delivered while the smallest size not kept was re-read",
            Bound::AtLeast(KEPT * reread.fetched as f64),
        ),
    };
    match &reread.delivered {
        Ok(delivered) => {
            let evidence = Evidence::judged(what, bound, *delivered as f64, &reread.source);
            let others = "others read from the same device";
            b.add_evidence(evidence.tolerated(|| reread.is_kept().then_some(others)));
        }
        Err(reason) => b.claim_unobserved(what, bound.fact(), &reread.source, reason),
    }
}

/// Adds details: the curve, and what limits memory here.
fn describe(b: &mut Bencher, seen: &[Reread]) {
    for (name, bytes) in [
        ("mem_available_bytes", memory::machine_available_bytes()),
        ("memory_limit_bytes", memory::group_limit_bytes()),
    ] {
        if let Some(bytes) = bytes {
            b.detail(name, bytes as f64);
        }
    }
    for reread in seen {
        let name = reread_detail(&size_name(reread.bytes as usize));
        b.detail(&name, reread.rate);
    }
}
