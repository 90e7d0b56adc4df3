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

use super::access::{Access, Blocks};
use super::labels;
use super::read::FILE;
use super::reader::Reader;
use super::source::{Source, State};
use super::space::Storage;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Sequential file read bandwidth",
    tags: &[
        "sequential read",
        "file read throughput",
        "page cache",
        "direct i/o",
        "o_direct",
        "disk throughput",
        "bw_file_rd",
        "fio",
    ],
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    ..Benchmark::of::<Row>()
};

const LARGE: Bytes = Bytes::mib(1);

#[derive(Params, Clone)]
struct Row {
    /// The directory's label.
    dir: String,
    access: Access,
    cache: State,
    /// Bytes of a read.
    size: Bytes,
}

impl Measured for Row {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Here) -> Vec<Case<Self>> {
        rows!(Row {
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

    fn profile(&self, _: &Here) -> Profile {
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

    fn run(self, b: &mut Bencher) -> Result<(), Failure> {
        let source = Source::open(b, &self.dir, FILE, self.cache, self.size)?;
        let blocks = Blocks {
            access: self.access,
            size: self.size,
            all: FILE,
        };
        let mut reader = Reader::of(b, &source, blocks);
        let storage = Storage::watch(source.file())?;
        match self.cache {
            State::Warm => {
                b.expect(calls(Sysno::PREAD64));
                b.rate(reader.size());
                b.try_iter(|| reader.read())?;
                claim_rated(b, &reader);
                storage.claim_unused(b, reader.bytes())
            }
            State::Cold | State::Direct => {
                let rated = reader.observe(b, || source.prepare(), || Ok(()))?;
                let claim = "bytes that were read, each in one of the rates";
                b.claim_equal(claim, reader.bytes(), rated, "pread64");
                storage.claim_fetched(b, reader.bytes())?;
                source.claim(b, "it is read")?;
                if self.cache == State::Cold {
                    let claim = "pages of the file in the page cache after it was read";
                    source.cache().claim(b, claim, source.cache().pages())?;
                }
                Ok(())
            }
        }
    }
}

/// Claims that the rate counts the bytes that the reads returned, and that the whole file was read.
fn claim_rated(b: &mut Bencher, reader: &Reader<'_>) {
    const SOURCE: &str = "pread64";
    let returned = reader.bytes() as f64 / b.operations().max(1) as f64;
    let rated = b.rated().unwrap_or_default();
    b.claim_equal("bytes that a read returned", rated, returned, SOURCE);
    let all = reader.blocks() * reader.size();
    b.claim_equal("bytes that are read in turn", FILE, all, SOURCE);
}
