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

pub(super) mod reader;
#[cfg(test)]
mod tests;

use std::fs::File;

use rustix::fs::{Advice, fadvise};
use syscost_harness::prelude::*;

use super::access::Access;
use super::space::{Cache, Direct, Kept, Storage, detail_guest, kept};
use super::tail::time_tail;
use super::{SIZE, in_each_directory};
use reader::Reader;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "fs.read",
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
    cases: Cases::Here(cases),
    expect: &[calls(Sysno::PREAD64)],
    disregards_neighbours: |case| case.get(CACHE) != WARM,
    quick: |case| case.get(CACHE) == COLD && case.get(SIZE) == "4K",
    full: |case| ["512", "64K"].contains(&case.get(SIZE)),
    run,
    source: include_str!("read.rs"),
    ..Benchmark::DEFAULT
};

pub(super) const CACHE: &str = "cache";
pub(super) const WARM: &str = "warm";
pub(super) const COLD: &str = "cold";
pub(super) const DIRECT: &str = "direct";

/// Size of the file, in bytes.
pub(super) const FILE: u64 = 8 << 20;

fn cases(here: &Here) -> Vec<Case> {
    // For less than a page, more is fetched than is read.
    let sizes: [(&'static str, &'static [&'static str]); 3] = [
        (WARM, &["512", "4K", "64K", "1M"]),
        (COLD, &["4K", "64K", "1M"]),
        (DIRECT, &["512", "4K", "64K", "1M"]),
    ];
    let cases = sizes.into_iter().flat_map(|(cache, sizes)| {
        let case =
            move |size| Case::new([Access::Random.parameter(), (CACHE, cache), (SIZE, size)]);
        sizes.iter().copied().map(case)
    });
    in_each_directory(here, &cases.collect::<Vec<_>>())
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
    let storage = Storage::watch(&file)?;
    b.try_iter(|| reader.read())?;
    storage.claim_unused(b, reader.bytes())
}

/// Brings a file into the page cache in the usual way: by reading it in order.
pub(super) fn fill_cache(b: &mut Bencher, kept: &Kept, file: &File) -> Result<(), Failure> {
    let cache = Cache::of(&kept.space, file)?;
    if kept.space.has_storage().is_ok() {
        cache.empty()?;
    }
    cache.fill(b, || reader::read_through(&kept.file, file))
}

fn cold(b: &mut Bencher, kept: &Kept) -> Result<(), Failure> {
    kept.space.has_storage()?;
    let file = kept.file.open()?;
    fadvise(&file, 0, None, Advice::Random).map_err(|cause| Failure::of("posix_fadvise", cause))?;
    let cache = Cache::of(&kept.space, &file)?;
    let access = Access::of(b.case())?;
    let mut reader = Reader::of(b, kept, &file, access)?;
    // A cold read may wait once for each page.
    let pages = reader.size().div_ceil(rustix::param::page_size() as u64);
    b.expect(at_most(Counter::VoluntarySwitches, 1.0 + pages as f64));
    let mut emptied = cache.emptied(b)?;
    let storage = Storage::watch(&file)?;
    b.single(|| emptied.again(), || reader.read())?;
    time_tail(b, || emptied.again(), || reader.read())?;
    emptied.claim(b, "pages of the file in the page cache before a read");
    cache.empty()?;
    reader.read()?;
    cache.claim(b, "pages of the file in the page cache after a read", pages)?;
    storage.claim_fetched(b, reader.bytes())?;
    detail_guest(b);
    Ok(())
}

fn direct(b: &mut Bencher, kept: &Kept) -> Result<(), Failure> {
    let direct = Direct::open(kept, b.case().number(SIZE))?;
    let access = Access::of(b.case())?;
    let mut reader = Reader::of(b, kept, direct.file(), access)?;
    b.expect(at_most(Counter::VoluntarySwitches, MAX_WAITS));
    let storage = Storage::watch(direct.file())?;
    b.single(|| Ok(()), || reader.read())?;
    time_tail(b, || Ok(()), || reader.read())?;
    direct.claim(b)?;
    storage.claim_fetched(b, reader.bytes())?;
    detail_guest(b);
    Ok(())
}

/// Maximum waits of a direct read: one for the device, and perhaps for a lock or for a slot in the
/// device's queue.
const MAX_WAITS: f64 = 3.0;
