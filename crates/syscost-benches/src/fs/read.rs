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
use syscost_harness::prelude::*;

use super::blocks::{Access, Blocks};
use super::labels;
use super::reader::Reader;
use super::transfer::{Source, State, pages};
use crate::witness::files::DIRECTORY;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Random file read",
    tags: "random read, pread, page cache, direct i/o, o_direct, disk latency, storage latency, \
        iops, cold cache, cache hit, bw_file_rd, fio",
    roles: roles!(
        FsRead {
            access: Access::Random,
            cache: State::Cold,
            size,
            ..
        } if size == Bytes::kib(4) => Role::ColdRead,
    ),
    ..Benchmark::of::<FsRead>()
};

/// Size of the file, in bytes.
pub(super) const FILE: u64 = 8 << 20;

/// Maximum waits of a direct read: one for the device, and perhaps for a lock or for a slot in the
/// device's queue.
const MAX_WAITS: f64 = 3.0;

#[derive(Params, Clone)]
pub(super) struct FsRead {
    /// The directory's label.
    pub(super) dir: String,
    pub(super) access: Access,
    pub(super) cache: State,
    /// Bytes of a read.
    pub(super) size: Bytes,
}

impl Measured for FsRead {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        const SIZES: [Bytes; 4] = [Bytes(512), Bytes::kib(4), Bytes::kib(64), Bytes::mib(1)];
        rows!(FsRead {
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

    fn profile(&self, _: &Testbed) -> Profile {
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

    fn proofs(&self) -> FsReadProofs<Proof> {
        self.proved(pages(self.size.0), 1)
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let source = self.source(&mut plan)?;
        let mut reader = Reader::of(&mut plan, &source, self.blocks());
        let waits = match self.cache {
            State::Warm => return source.cached(plan, &mut reader),
            State::Cold => {
                fadvise(source.file(), 0, None, Advice::Random).tried("posix_fadvise")?;
                // Once for each page.
                1.0 + pages(self.size.0) as f64
            }
            State::Direct => MAX_WAITS,
        };
        source.each(plan, &mut reader, waits, || Ok(()))
    }
}

impl FsRead {
    pub(super) fn source(&self, b: &mut Bencher) -> Result<Source, Failure> {
        Source::open(b, &self.dir, FILE, self.cache, self.size)
    }

    pub(super) fn blocks(&self) -> Blocks {
        Blocks {
            access: self.access,
            size: self.size,
            all: FILE,
        }
    }

    /// What proves its parameters, if a cold read leaves this many pages in the cache, and an
    /// operation is this many calls.
    pub(super) fn proved(&self, left: u64, calls: u64) -> FsReadProofs<Proof> {
        let (blocks, call) = (self.blocks(), Sysno::PREAD64);
        let counted = exactly(Counter::Syscall(call), calls as f64);
        FsReadProofs {
            dir: DIRECTORY.expects(&*self.dir),
            access: blocks.in_order(call),
            cache: self.cache.proof(FILE, left),
            size: blocks.sized(call).and(Proof::counted([counted])),
        }
    }
}

#[cfg(test)]
mod tests {
    use syscost_harness::directory::DEFAULT;

    use super::*;
    use crate::testing::found_by;

    #[test]
    fn every_cold_and_direct_read_is_in_the_histogram() {
        let row = FsRead {
            dir: DEFAULT.to_owned(),
            access: Access::Random,
            cache: State::Direct,
            size: Bytes::kib(4),
        };
        let found = found_by(&Case::default(), Pass::Timed, &[], |plan| {
            Measured::<()>::measure(row, plan)
        });
        let found = or_skip!(found);
        let singles: u64 = found.histogram.iter().map(|(_, count)| count).sum();
        // How many reads a batch has depends on how long one takes at this hour.
        assert!(singles >= found.samples.values.len() as u64, "{singles}");
    }
}
