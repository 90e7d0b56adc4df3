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

use std::fs::File;
use std::time::Instant;

use syscost_harness::prelude::*;

use super::access::Access;
use super::read::reader::Reader;
use super::read::{CACHE, COLD, DIRECT, FILE, WARM, fill_cache};
use super::space::{Cache, Direct, Kept, Storage, detail_guest, kept};
use super::tail::expect_waits;
use super::{SIZE, in_each_directory};
use crate::implied::{Implied, Shares};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "fs.read_bandwidth",
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
    cases: Cases::Here(cases),
    disregards_neighbours: |case| case.get(CACHE) != WARM,
    quick: |case| case.get(CACHE) == WARM && case.get(SIZE) == "1M",
    full: |case| case.get(SIZE) == "64K" || (case.get(SIZE) == "4K" && case.get(CACHE) != WARM),
    run,
    source: include_str!("read_bandwidth.rs"),
    ..Benchmark::DEFAULT
};

fn cases(here: &Here) -> Vec<Case> {
    let cases = [
        (WARM, "4K"),
        (WARM, "64K"),
        (WARM, "1M"),
        (COLD, "4K"),
        (COLD, "1M"),
        (DIRECT, "64K"),
        (DIRECT, "1M"),
    ];
    let case =
        |(cache, size)| Case::new([Access::Sequential.parameter(), (CACHE, cache), (SIZE, size)]);
    in_each_directory(here, &cases.map(case))
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let kept = kept(b, FILE)?;
    match b.case().get(CACHE) {
        WARM => warm(b, &kept),
        COLD => cold(b, &kept),
        DIRECT => direct(b, &kept),
        _ => Err(b.case().unknown(CACHE)),
    }
}

fn warm(b: &mut Bencher, kept: &Kept) -> Result<(), Failure> {
    let file = kept.file.open()?;
    fill_cache(b, kept, &file)?;
    let access = Access::of(b.case())?;
    let mut reader = Reader::of(b, kept, &file, access)?;
    b.expect(calls(Sysno::PREAD64));
    b.rate(reader.size());
    let storage = Storage::watch(&file)?;
    b.try_iter(|| reader.read())?;
    claim_rated(b, &reader);
    storage.claim_unused(b, reader.bytes())
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

fn cold(b: &mut Bencher, kept: &Kept) -> Result<(), Failure> {
    kept.space.has_storage()?;
    let file = kept.file.open()?;
    let cache = Cache::of(&kept.space, &file)?;
    let mut emptied = cache.emptied(b)?;
    measure(b, kept, &file, || emptied.again())?;
    emptied.claim(b, "pages of the file in the page cache before it is read");
    let claim = "pages of the file in the page cache after it was read";
    cache.claim(b, claim, cache.pages())
}

fn direct(b: &mut Bencher, kept: &Kept) -> Result<(), Failure> {
    let direct = Direct::open(kept, b.case().number(SIZE))?;
    measure(b, kept, direct.file(), || Ok(()))?;
    direct.claim(b)
}

/// Measures reading the whole file, each time after a preparation, and claims that storage
/// delivered it.
fn measure(
    b: &mut Bencher,
    kept: &Kept,
    file: &File,
    mut prepare: impl FnMut() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let access = Access::of(b.case())?;
    let mut reader = Reader::of(b, kept, file, access)?;
    b.expect(exactly(
        Counter::Syscall(Sysno::PREAD64),
        reader.blocks() as f64,
    ));
    expect_waits(b, kept.file.bytes() / rustix::param::page_size() as u64);
    let clock = *b.clock();
    let storage = Storage::watch(file)?;
    let (mut rated, mut implied) = (0, Implied::default());
    b.observe(|| {
        prepare()?;
        let (begun, before) = (Instant::now(), reader.bytes());
        let ns = clocked(&clock, || reader.read_all())?;
        let bytes = reader.bytes() - before;
        let rate = bytes as f64 * 1e9 / ns;
        rated += bytes;
        implied.note(bytes as f64 * 1e9 / rate, begun);
        Ok(rate)
    })?;
    implied.claim(b, Shares::WHOLE);
    let claim = "bytes that were read, each in one of the rates";
    b.claim_equal(claim, reader.bytes(), rated, "pread64");
    storage.claim_fetched(b, reader.bytes())?;
    detail_guest(b);
    Ok(())
}
