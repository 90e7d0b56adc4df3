//! Reading a file at random, from the page cache and from storage.
//!
//! ## Measures
//! One pread(2) of `size` bytes of a file of 8 MiB, at a multiple of the size that is neither at the last
//! read's place nor next to it.
//! - `cache=warm`: every page is in the page cache, brought in by reading the file in order: the
//!   system call, finding the pages, copying them.
//! - `cache=cold`: none of the file's pages is; POSIX_FADV_RANDOM keeps the kernel from reading ahead.
//!   It waits for storage, and copies.
//! - `cache=direct`: by O_DIRECT, bypassing the page cache, into the reader's memory.
//! ## Does not measure
//! Long seeks of a rotating disk: the file is short. How a device handles several reads at a
//! time: `fs.read_uring`.
//! ## Interpretation
//! Cold and direct reads are each timed individually, and the histogram contains them all, a few hundred per
//! second of the row's time; p99.9 needs 2995 of them. They are slow because of the device,
//! not of the core, so samples count whatever else runs on the core. `guest_cold` says that this is a
//! virtual machine: its host may have had the bytes in a cache of its own, which no guest can detect.
//! Nor can a program detect the device's own cache. If direct reads leave no pages in the cache according to
//! the kernel, they were direct; a file system that serves them through its cache (btrfs with
//! checksums) is refuted.
//! ## Source
//! fio with ioengine=psync and rw=randread, which gives the same advice; lmbench `bw_file_rd`;
//! cachestat(2), mincore(2), statx(2).

use rustix::fs::{Advice, fadvise};
use rustix::param::page_size;
use syscost_harness::prelude::*;

use super::access::{Access, Blocks};
use super::labels;
use super::reader::Reader;
use super::source::{Source, State};
use super::space::Storage;
use super::tail::measure_each;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Random file read",
    tags: &[
        "random read",
        "pread",
        "page cache",
        "direct i/o",
        "o_direct",
        "disk latency",
        "storage latency",
        "iops",
        "cold cache",
        "cache hit",
        "bw_file_rd",
        "fio",
    ],
    expect: &[calls(Sysno::PREAD64)],
    ..Benchmark::of::<Row>()
};

/// Size of the file, in bytes.
pub(super) const FILE: u64 = 8 << 20;

/// Maximum waits of a direct read: one for the device, and perhaps for a lock or for a slot in the
/// device's queue.
const MAX_WAITS: f64 = 3.0;

#[derive(Params, Clone)]
pub(super) struct Row {
    /// The directory's label.
    pub(super) dir: String,
    pub(super) access: Access,
    pub(super) cache: State,
    /// Bytes of a read.
    pub(super) size: Bytes,
}

impl Measured for Row {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Here) -> Vec<Case<Self>> {
        const SIZES: [Bytes; 4] = [Bytes(512), Bytes::kib(4), Bytes::kib(64), Bytes::mib(1)];
        rows!(Row {
            dir: labels(here),
            access: [Access::Random],
            cache: State::ALL,
            size: match cache {
                State::Warm | State::Direct => SIZES.iter().copied(),
                // For less than a page, more is fetched than is read.
                State::Cold => SIZES[1..].iter().copied(),
            }
        })
    }

    fn profile(&self, _: &Here) -> Profile {
        if self.cache == State::Cold && self.size == Bytes::kib(4) {
            Profile::Quick
        } else if [Bytes(512), Bytes::kib(64)].contains(&self.size) {
            Profile::Full
        } else {
            Profile::Standard
        }
    }

    fn ignores_interference(&self) -> bool {
        self.cache != State::Warm
    }

    fn run(self, b: &mut Bencher) -> Result<(), Failure> {
        let source = Source::open(b, &self.dir, FILE, self.cache, self.size)?;
        let blocks = Blocks {
            access: self.access,
            size: self.size,
            all: FILE,
        };
        let mut reader = Reader::of(b, &source, blocks);
        let pages = self.size.0.div_ceil(page_size() as u64);
        let storage = Storage::watch(source.file())?;
        let waits = match self.cache {
            State::Warm => {
                b.try_iter(|| reader.read())?;
                return storage.claim_unused(b, reader.bytes());
            }
            State::Cold => {
                fadvise(source.file(), 0, None, Advice::Random)
                    .map_err(|cause| Failure::of("posix_fadvise", cause))?;
                // Once for each page.
                1.0 + pages as f64
            }
            State::Direct => MAX_WAITS,
        };
        b.expect(at_most(Counter::VoluntarySwitches, waits));
        measure_each(b, || source.prepare(), || reader.read())?;
        source.claim(b, "a read")?;
        if self.cache == State::Cold {
            source.prepare()?;
            reader.read()?;
            let claim = "pages of the file in the page cache after a read";
            source.cache().claim(b, claim, pages)?;
        }
        storage.claim_fetched(b, reader.bytes())
    }
}

#[cfg(test)]
mod tests {
    use syscost_harness::bencher::{Findings, Pass};
    use syscost_harness::directory::DEFAULT;
    use syscost_results::Verdict;

    use super::*;
    use crate::fs::reader::read_through;
    use crate::fs::space::tests::is_of_others;
    use crate::testing::{claims, found_of};

    /// The findings of a row; if it cannot be measured, prints the reason and returns `None`.
    fn found(cache: State, size: Bytes, pass: Pass) -> Option<Findings> {
        let row = Row {
            dir: DEFAULT.to_owned(),
            access: Access::Random,
            cache,
            size,
        };
        found_of(&Case::default(), pass, BENCHMARK.expect, |b| row.run(b))
    }

    #[test]
    fn honest_reads_are_not_refuted() {
        let sizes = [Bytes(512), Bytes::kib(4), Bytes::kib(64)];
        for (cache, size) in State::ALL.into_iter().zip(sizes) {
            for pass in [Pass::Timed, Pass::Evidence] {
                let Some(findings) = found(cache, size, pass) else {
                    continue;
                };
                let mut refuted = claims(&findings, Verdict::Refuted);
                refuted.retain(|claim| !is_of_others(claim));
                assert_eq!(refuted, [""; 0], "{cache:?} {size:?}");
            }
        }
    }

    #[test]
    fn every_cold_and_direct_read_is_in_the_histogram() {
        let Some(findings) = found(State::Direct, Bytes::kib(4), Pass::Timed) else {
            return;
        };
        let singles: u64 = findings.histogram.iter().map(|(_, count)| count).sum();
        assert!(singles > findings.samples.values.len() as u64, "{singles}");
    }

    #[test]
    fn a_cold_read_of_a_cached_file_is_refuted() {
        let size = Bytes::kib(4);
        let expect = BENCHMARK.expect;
        let findings = found_of(&Case::default(), Pass::Evidence, expect, |b| {
            let source = Source::open(b, DEFAULT, FILE, State::Cold, size)?;
            let blocks = Blocks {
                access: Access::Random,
                size,
                all: FILE,
            };
            let mut reader = Reader::of(b, &source, blocks);
            read_through(source.written(), source.file())?;
            let storage = Storage::watch(source.file())?;
            b.single(|| Ok(()), || reader.read())?;
            source.cache().claim(b, "pages before", 0)?;
            storage.claim_fetched(b, reader.bytes())
        });
        let Some(findings) = findings else { return };
        let refuted = claims(&findings, Verdict::Refuted);
        for claim in ["pages before", "bytes fetched from storage per byte read"] {
            assert!(refuted.contains(&claim), "{refuted:?}");
        }
    }
}
