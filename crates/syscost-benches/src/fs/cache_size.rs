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

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_harness::targets::THOROUGH_SEARCH;
use syscost_results::details::reread_detail;
use syscost_sys::files::{self, stamp};
use syscost_sys::memory;

use super::labels;
use super::space::{Space, Storage};
use crate::witness::files::DIRECTORY;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Page cache size, by re-reading a growing file",
    tags: "buffer cache, cache capacity, file cache, memory pressure",
    unit: Unit::Bytes,
    better: Better::Higher,
    setup: Setup::Expensive { seconds: 0.8 },
    roles: roles!(_ => Role::PageCache),
    ignores_interference: true,
    ..Benchmark::of::<FsCacheSize>()
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
struct FsCacheSize {
    /// The directory's label.
    dir: String,
}

impl Measured for FsCacheSize {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(FsCacheSize { dir: labels(here) })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        // Up to a second in each round, for one row.
        Profile::Full
    }

    fn proofs(&self) -> FsCacheSizeProofs<Proof> {
        FsCacheSizeProofs {
            dir: DIRECTORY.expects(&*self.dir),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let space = Space::in_directory(&mut plan, &self.dir)?;
        space.has_storage()?;
        let seed = plan.random().u64(..);
        let mut file = Grown::new(&space, seed, plan.compares())?;
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

/// Bytes per read or write.
const PART: usize = 1 << 20;

/// Bytes after which the file is written back, since dirty pages cannot be evicted.
const WRITE_BACK: u64 = 16 << 20;

/// Maximum number of readings of a file that is not kept.
const MAX_READINGS: u32 = 3;

/// The share of a file that must have been fetched before it counts as not kept: a few pages
/// may always be missing.
const FETCHED: f64 = 0.01;

/// Why a file cannot grow any further.
enum Halt {
    Time,
    /// The file system has no more space.
    Room(String),
    Failed(Failure),
}

impl From<Failure> for Halt {
    fn from(failure: Failure) -> Self {
        Halt::Failed(failure)
    }
}

/// The result of re-reading one size.
#[derive(Debug)]
struct Reread {
    bytes: u64,
    /// Rate, in bytes per second.
    rate: f64,
    /// Bytes that reads returned, and how many of them were fetched from storage.
    returned: u64,
    fetched: u64,
    /// Bytes that the device delivered, to any program, and the source of that.
    delivered: Result<u64, Unsupported>,
    source: String,
    /// Pages in the page cache afterwards, according to both witnesses.
    resident: u64,
    cached: Option<u64>,
}

impl Reread {
    /// Whether all of it came from the page cache.
    fn is_kept(&self) -> bool {
        (self.fetched as f64) < FETCHED * self.bytes as f64
    }
}

const NAME: &str = "grown";

/// A file that grows.
struct Grown<'s> {
    space: &'s Space,
    file: File,
    seed: u64,
    bytes: u64,
    is_checked: Compares,
    /// The time until which it may grow and be read.
    deadline: Instant,
    buffer: Vec<u8>,
    /// Rate at which it was written and written back, in bytes per second.
    write_rate: f64,
}

impl<'s> Grown<'s> {
    /// An empty file. What is read is compared with what was written if `is_checked`.
    fn new(space: &'s Space, seed: u64, is_checked: Compares) -> Result<Self, Failure> {
        let file = space.folder().create(NAME)?;
        Ok(Self {
            space,
            file,
            seed,
            bytes: 0,
            is_checked,
            deadline: Instant::now(),
            buffer: vec![0; PART],
            write_rate: 0.0,
        })
    }

    /// Makes the file this long and reads it again after the cache has seen all of it. If it
    /// was not kept it is read some more times: a kernel that gives memory back to its host takes
    /// some of it now and then, but not each time.
    fn reread(&mut self, bytes: u64) -> Result<Reread, Halt> {
        if bytes > self.bytes {
            self.grow(bytes)?;
        } else {
            self.cut(bytes)?;
            self.read()?;
        }
        let first = self.read_again()?;
        for _ in 1..MAX_READINGS {
            if first.is_kept() {
                break;
            }
            match self.read_again() {
                Ok(again) if again.is_kept() => return Ok(again),
                Ok(_) => {}
                Err(Halt::Time) => break,
                Err(halt) => return Err(halt),
            }
        }
        Ok(first)
    }

    /// Reads the file from its beginning to its end, and determines the cost.
    fn read_again(&mut self) -> Result<Reread, Halt> {
        let storage = Storage::watch(&self.file);
        let begun = Instant::now();
        let read = self.read()?;
        let passed = begun.elapsed().as_secs_f64();
        let counted = storage.io().map_err(Failure::from)?;
        let reread = Reread {
            bytes: self.bytes,
            rate: read as f64 / passed,
            returned: counted.rchar,
            fetched: counted.read_bytes,
            delivered: storage.delivered(),
            source: storage.source(),
            resident: files::resident_pages(&self.file).map_err(Failure::from)?,
            cached: files::cachestat(&self.file).ok().map(|cached| cached.pages),
        };
        // What was fetched so far may be enough to see that not all was kept.
        match read < self.bytes && reread.is_kept() {
            true => Err(Halt::Time),
            false => Ok(reread),
        }
    }

    /// Shortens the file: the rest would take memory, and be read ahead.
    fn cut(&mut self, bytes: u64) -> Result<(), Failure> {
        self.bytes = bytes;
        self.file.set_len(bytes).tried("ftruncate")
    }

    /// Extends the file to this many bytes and writes them back to its device.
    fn grow(&mut self, bytes: u64) -> Result<(), Halt> {
        self.space
            .room_for(bytes - self.bytes)
            .map_err(|failure| Halt::Room(failure.to_string()))?;
        let tried = format!("write {NAME}");
        let failed = |cause| Failure::of(&tried, cause);
        let (begun, from) = (Instant::now(), self.bytes);
        while self.bytes < bytes {
            if Instant::now() > self.deadline {
                return Err(Halt::Time);
            }
            let part = PART.min((bytes - self.bytes) as usize);
            stamp::fill(&mut self.buffer[..part], self.bytes, self.seed);
            self.file
                .write_all_at(&self.buffer[..part], self.bytes)
                .map_err(failed)?;
            self.bytes += part as u64;
            if self.bytes.is_multiple_of(WRITE_BACK) || self.bytes == bytes {
                self.file.sync_data().map_err(failed)?;
            }
        }
        self.write_rate = (bytes - from) as f64 / begun.elapsed().as_secs_f64();
        Ok(())
    }

    /// Reads the file in order, as far as time permits; returns how
    /// many bytes.
    fn read(&mut self) -> Result<u64, Failure> {
        for offset in (0..self.bytes).step_by(PART) {
            if Instant::now() > self.deadline {
                return Ok(offset);
            }
            let part = PART.min((self.bytes - offset) as usize);
            self.file
                .read_exact_at(&mut self.buffer[..part], offset)
                .tried("pread")?;
            if self.is_checked.all() {
                stamp::check(&self.buffer[..part], offset, self.seed)?;
            }
        }
        Ok(self.bytes)
    }
}

/// The smallest unit of a size, in bytes.
const UNIT: u64 = 1 << 20;

/// Sizes per octave: 4, 5, 6 and 7 times a power of two.
const OCTAVE: u32 = 4;

/// The first size tried, as a number for [`size`]: 16 MiB.
const FIRST: u32 = 2 * OCTAVE;

/// The largest size, likewise: 1 PiB.
const LAST: u32 = 28 * OCTAVE;

/// Sizes are doubled while they are below this share of what memory is expected to hold.
const FAR_BELOW: f64 = 0.75;

/// The size of this number, in bytes.
fn size(number: u32) -> u64 {
    u64::from(OCTAVE + number % OCTAVE) * (UNIT << (number / OCTAVE))
}

/// A search for the largest size that the cache keeps.
#[derive(Debug, Clone, Copy)]
struct Search {
    /// What memory is expected to hold, in bytes.
    expected: u64,
    /// Numbers of the largest size that the cache kept and of the smallest that it did not.
    kept: Option<u32>,
    lost: Option<u32>,
    next: Option<u32>,
}

impl Search {
    /// A search that expects the cache to hold this many bytes.
    fn new(expected: u64) -> Self {
        Self {
            expected,
            kept: None,
            lost: None,
            next: Some(FIRST),
        }
    }

    /// The size to be tried next, in bytes; `None` if the limit is known to lie between two
    /// neighbouring sizes.
    fn next(&self) -> Option<u64> {
        self.next.map(size)
    }

    fn note(&mut self, is_kept: bool) {
        match is_kept {
            true => self.kept = self.next,
            false => self.lost = self.next,
        }
        self.next = match (self.kept, self.lost) {
            (None, None) => Some(FIRST),
            (None, Some(lost)) => lost.checked_sub(1),
            (Some(kept), None) => Some(self.larger_than(kept)).filter(|next| *next <= LAST),
            (Some(kept), Some(lost)) => (kept + 1 < lost).then(|| kept.midpoint(lost)),
        };
    }

    fn larger_than(&self, kept: u32) -> u32 {
        let double = kept + OCTAVE;
        match (size(double) as f64) < FAR_BELOW * self.expected as f64 {
            true => double,
            false => kept + 1,
        }
    }

    /// The largest size that the cache kept, in bytes.
    fn kept(&self) -> Option<u64> {
        self.kept.map(size)
    }

    /// The smallest size that it did not keep, in bytes.
    fn lost(&self) -> Option<u64> {
        self.lost.map(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes that are tried with a cache of this many MiB, and the result, in MiB.
    fn found(expected: u64, cache: u64) -> (Vec<u64>, Option<u64>, Option<u64>) {
        let mut search = Search::new(expected << 20);
        let mut tried = Vec::new();
        while let Some(next) = search.next() {
            tried.push(next >> 20);
            assert!(tried.len() < 200);
            search.note(next <= cache << 20);
        }
        let mib = |bytes: Option<u64>| bytes.map(|bytes| bytes >> 20);
        (tried, mib(search.kept()), mib(search.lost()))
    }

    #[test]
    fn sizes_double_until_they_come_near_and_the_neighbours_of_the_knee_are_found() {
        let (tried, kept, lost) = found(245, 240);
        assert_eq!(tried, [16, 32, 64, 128, 160, 192, 224, 256]);
        assert_eq!((kept, lost), (Some(224), Some(256)));
    }

    #[test]
    fn a_cache_smaller_than_expected_is_found_within_an_octave() {
        let (tried, kept, lost) = found(2000, 100);
        assert_eq!(tried, [16, 32, 64, 128, 96, 112]);
        assert_eq!((kept, lost), (Some(96), Some(112)));
        assert_eq!(found(2000, 4).1, Some(4));
        assert_eq!(found(2000, 1).1, None);
    }

    #[test]
    fn a_cache_larger_than_expected_is_found_as_well() {
        let (_, kept, lost) = found(100, 700);
        assert_eq!((kept, lost), (Some(640), Some(768)));
    }

    #[test]
    fn sizes_grow_from_number_to_number() {
        assert_eq!(size(0), 4 << 20);
        assert!((0..LAST).all(|number| size(number) < size(number + 1)));
    }
}
