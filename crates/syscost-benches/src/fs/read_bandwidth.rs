//! Reading a file in order, from the page cache and from storage.
//!
//! ## Measures
//! Bytes per second of a file of 8 MiB that is read from its beginning to its end by pread(2) of
//! `size` bytes at a time, by one thread, into memory that it reuses.
//! - `cache=warm`: every page is in the page cache: system calls and copying.
//! - `cache=cold`: none is, and the kernel reads ahead by its own rules (`fs.read_ahead`).
//! - `cache=direct`: by O_DIRECT, bypassing the page cache: one request at a time, without readahead.
//! ## Does not measure
//! The maximum bandwidth of a device: that takes several requests at a time (`fs.read_uring`).
//! Using the data.
//! ## Interpretation
//! Cold reads of all sizes have similar rates, since the kernel fetches more at a time than is
//! requested; direct ones do not. Bytes are those that the calls returned, compared with those that the
//! kernel counted as fetched. For `guest_cold` see `fs.read`.
//! ## Source
//! lmbench `bw_file_rd`; fio with ioengine=psync and rw=read.

use syscost_harness::prelude::*;

use super::blocks::Access;
use super::labels;
use super::read::{FILE, FsRead, FsReadProofs};
use super::reader::Reader;
use super::transfer::{Observes, State, Transfer, pages};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Sequential file read bandwidth",
    tags: "sequential read, file read throughput, page cache, direct i/o, o_direct, \
        disk throughput, bw_file_rd, fio",
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    roles: roles!(
        FsRead { access: Access::Sequential, cache: State::Warm, size: LARGE, .. } => Role::WarmScan,
        FsRead { access: Access::Sequential, cache: State::Cold, size: LARGE, .. } => Role::ColdScan,
    ),
    ..Benchmark::by::<FsRead, Bandwidth>()
};

const LARGE: Bytes = Bytes::mib(1);

/// What the same file as that of `fs.read` is read for.
struct Bandwidth;

impl Measured<Bandwidth> for FsRead {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(FsRead {
            dir: labels(here),
            access: [Access::Sequential],
            cache: State::ALL,
            size: match cache {
                State::Warm => vec![Bytes::kib(4), Bytes::kib(64), LARGE],
                State::Cold => vec![Bytes::kib(4), LARGE],
                State::Direct => vec![Bytes::kib(64), LARGE],
            }
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match (self.cache, self.size == LARGE) {
            (State::Warm, true) => Profile::Quick,
            (State::Cold | State::Direct, true) => Profile::Standard,
            (State::Warm, false) if self.size == Bytes::kib(4) => Profile::Standard,
            (State::Warm | State::Cold | State::Direct, false) => Profile::Full,
        }
    }

    fn ignores_interference(&self) -> bool {
        self.cache != State::Warm
    }

    fn proofs(&self) -> FsReadProofs<Proof> {
        let calls = match self.cache {
            State::Warm => 1,
            State::Cold | State::Direct => self.blocks().count(),
        };
        self.proved(pages(FILE), calls)
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let source = self.source(&mut plan)?;
        let mut reader = Reader::of(&mut plan, &source, self.blocks());
        match self.cache {
            State::Warm => {
                plan.rate(reader.tally().size);
                let mut outcome = source.cached(plan, &mut reader)?;
                outcome.claim_moved(reader.tally().bytes(), "pread64");
                Ok(outcome)
            }
            State::Cold | State::Direct => {
                let nothing = || Ok(());
                source.laps(plan, &mut reader, Observes::Rate, nothing, nothing)
            }
        }
    }
}
