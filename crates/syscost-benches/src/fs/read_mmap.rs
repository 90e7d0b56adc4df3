//! Reading a file through a mapping.
//!
//! ## Measures
//! All words of a page of a mapped file of 8 MiB, added up, per page. The pages are in none of the
//! process's tables before, so that each has to be found by a fault first, of its own or one
//! nearby.
//! - `cache=warm`: every page is in the page cache, brought in by reading the file in order; the
//!   kernel maps what is around a page as well (`pages_per_fault`).
//! - `cache=cold`: no page is, and a fault waits for storage. With `access=sequential` the kernel
//!   reads around the page and ahead by its own rules, with `access=random` MADV_RANDOM keeps it
//!   from that, and each page is timed alone.
//! ## Does not measure
//! Making the mapping (`memory.mmap`), or faults alone (`memory.page_fault`), which touch one byte of a page.
//! ## Reading it
//! Against `fs.read{size=4K}` it says whether mapping or copying is the cheaper way to a page that
//! is used once; what is read again costs nothing through a mapping. Cold rows as at `fs.read`.
//! ## Source
//! lmbench `bw_mmap_rd`, which adds up words of a mapped file as well.

use rustix::mm::{Advice, ProtFlags};
use syscost_harness::prelude::*;
use syscost_sys::counters::Usage;

use super::in_each_directory;
use super::read::reader::{self, scattered};
use super::read::{CACHE, COLD, FILE, WARM, fill_cache, unknown};
use super::space::{Cache, Kept, Storage, kept, tell_guest};
use super::tail::{clocked, expect_waits, time_tail};
use crate::memory::space::file::Mapped;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "fs.read_mmap",
    title: "Page of a mapped file read",
    cases: Cases::Here(cases),
    disregards_neighbours: |case| case.get(CACHE) != WARM,
    run,
    source: include_str!("read_mmap.rs"),
    ..Benchmark::DEFAULT
};

const ACCESS: &str = "access";
const SEQUENTIAL: &str = "sequential";
const RANDOM: &str = "random";

/// Mappings that are gone through in the longest batch, one after the other.
const MAPPINGS: u64 = 2;

/// An odd fault is the process's own.
const FAULTS: f64 = 0.02;

fn cases() -> Vec<Case> {
    let cases = [
        (SEQUENTIAL, WARM),
        (RANDOM, WARM),
        (SEQUENTIAL, COLD),
        (RANDOM, COLD),
    ];
    in_each_directory(&cases.map(|(access, cache)| Case::new([(ACCESS, access), (CACHE, cache)])))
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let kept = kept(b, FILE)?;
    let pages = Pages::of(b, &kept)?;
    match (b.case().get(CACHE), b.case().get(ACCESS)) {
        (WARM, SEQUENTIAL | RANDOM) => warm(b, &kept, &pages),
        (COLD, SEQUENTIAL) => cold_in_order(b, &kept, &pages),
        (COLD, RANDOM) => cold_at_random(b, &kept, &pages),
        (cache, _) => Err(unknown(cache)),
    }
}

/// The pages of the file, in the order in which they are read.
struct Pages {
    order: Vec<usize>,
    /// What adding up the words of each gives, by number.
    sums: Vec<u64>,
}

impl Pages {
    fn of(b: &mut Bencher, kept: &Kept) -> Result<Self, Failure> {
        let page = rustix::param::page_size() as u64;
        let count = kept.file.bytes() / page;
        let order = match b.case().get(ACCESS) {
            SEQUENTIAL => (0..count).collect(),
            RANDOM => scattered(count, b.random()),
            access => return Err(Failure::Broken(format!("knows no access={access}"))),
        };
        let mut part = vec![0; page as usize];
        let sums = (0..count).map(|number| {
            kept.file.content(&mut part, number * page);
            let (words, _) = part.as_chunks();
            let words = words.iter().map(|word| u64::from_le_bytes(*word));
            words.fold(0, u64::wrapping_add)
        });
        Ok(Self {
            sums: sums.collect(),
            order: order.into_iter().map(|number| number as usize).collect(),
        })
    }

    fn map(&self, file: &std::fs::File) -> Result<Mapped, Failure> {
        Mapped::of(file, self.sums.len(), ProtFlags::READ)
    }

    /// Reads a page and makes sure that it was that one.
    #[inline(always)]
    fn read(&self, mapped: &Mapped, number: usize) -> Result<(), Failure> {
        match mapped.read_words(number) == self.sums[number] {
            true => Ok(()),
            false => Err(Failure::Refuted(format!(
                "page {number} of the mapping has not the content that was written there"
            ))),
        }
    }

    /// Reads each page once.
    fn read_all(&self, mapped: &Mapped) -> Result<(), Failure> {
        let read = self.order.iter().try_fold(0, |read, number| {
            self.read(mapped, *number).map(|()| read + 1)
        })?;
        match read == self.order.len() {
            true => Ok(()),
            false => Err(Failure::Refuted(format!(
                "{read} of {} pages were read",
                self.order.len()
            ))),
        }
    }

    fn count(&self) -> u64 {
        self.order.len() as u64
    }

    /// How many bytes are read when each page is read as often.
    fn bytes(&self, times: u64) -> u64 {
        times * rustix::param::page_size() as u64
    }

    /// Claims in which order they are read.
    fn claim_order(&self, b: &mut Bencher) {
        let pairs = self.order.windows(2);
        let next = pairs.filter(|pair| pair[1] == pair[0] + 1).count() as u64;
        let expected = match b.case().get(ACCESS) == SEQUENTIAL {
            true => self.count() - 1,
            false => 0,
        };
        let claim = "pages read right behind the one before them in the file";
        b.claim_equal(claim, expected, next, "benchmark");
    }
}

fn warm(b: &mut Bencher, kept: &Kept, pages: &Pages) -> Result<(), Failure> {
    let file = kept.file.open()?;
    fill_cache(b, kept, &file)?;
    let mappings = (0..MAPPINGS)
        .map(|_| pages.map(&file))
        .collect::<Result<Vec<_>, _>>()?;
    let unmap = || mappings.iter().try_for_each(Mapped::unmap_pages);
    unmap()?;
    let mapped: usize = mappings.iter().map(Mapped::mapped).sum::<Result<_, _>>()?;
    b.claim_equal("pages mapped before they are read", 0, mapped, "pagemap");
    let before = Usage::thread()?;
    pages.read_all(&mappings[0])?;
    let faults = (Usage::thread()? - before).minor_faults.max(1);
    let claim = "pages mapped once they are read, at least";
    let mapped = mappings[0].mapped()? as u64;
    b.claim(
        claim,
        pages.count(),
        mapped,
        "pagemap",
        mapped >= pages.count(),
    );
    pages.claim_order(b);
    let per_page = faults as f64 / pages.count() as f64;
    b.expect(within(
        Counter::MinorFaults,
        per_page / 1.1 - FAULTS,
        1.1 * per_page + FAULTS,
    ));
    b.detail("pages_per_fault", 1.0 / per_page);
    let storage = Storage::watch(&file)?;
    b.prepared_batches(
        pages.count(),
        MAPPINGS,
        |_| unmap(),
        |turns| {
            mappings[..turns as usize]
                .iter()
                .try_for_each(|mapped| pages.read_all(mapped))
        },
    )?;
    storage.claim_unused(b, pages.bytes(b.operations()))
}

fn cold_in_order(b: &mut Bencher, kept: &Kept, pages: &Pages) -> Result<(), Failure> {
    kept.space.has_storage()?;
    let file = kept.file.open()?;
    let (mapped, cache) = (pages.map(&file)?, Cache::of(&kept.space, &file)?);
    let mut seen = cache.emptied()?;
    expect_waits(b, cache.pages());
    let (mut major, mut times) = (0, 0_u64);
    let clock = *b.clock();
    let storage = Storage::watch(&file)?;
    b.observe(|| {
        mapped.unmap_pages()?;
        cache.empty()?;
        seen = seen.max(cache.resident()?);
        let before = Usage::thread()?;
        let ns = clocked(&clock, || pages.read_all(&mapped))?;
        major += (Usage::thread()? - before).major_faults;
        times += 1;
        Ok(ns / pages.count() as f64)
    })?;
    cache.claim_seen(
        b,
        "pages of the file in the page cache before it is read",
        0,
        seen,
    );
    pages.claim_order(b);
    let each = major as f64 / times.max(1) as f64;
    let claim = "major page faults each time the file is read";
    b.claim_within(claim, Bound::AtLeast(1.0), each, "getrusage");
    b.detail("pages_per_major_fault", pages.count() as f64 / each);
    storage.claim_fetched(b, pages.bytes(times * pages.count()))?;
    tell_guest(b);
    Ok(())
}

fn cold_at_random(b: &mut Bencher, kept: &Kept, pages: &Pages) -> Result<(), Failure> {
    kept.space.has_storage()?;
    let file = kept.file.open()?;
    reader::read_through(&kept.file, &file)?;
    let (mapped, cache) = (pages.map(&file)?, Cache::of(&kept.space, &file)?);
    mapped.advise(Advice::Random)?;
    b.expect(within(Counter::MajorFaults, 0.99, 1.01));
    b.expect(at_most(Counter::VoluntarySwitches, 2.0));
    let mut seen = cache.emptied()?;
    // Emptying it makes sure of it; another look would only take the time of a read.
    let looks = !b.is_timed();
    let mut prepare = || {
        mapped.unmap_pages()?;
        cache.empty()?;
        if looks {
            seen = seen.max(cache.resident()?);
        }
        Ok(())
    };
    let (mut next, mut reads) = (0, 0);
    let mut read = || {
        pages.read(&mapped, pages.order[next])?;
        next = (next + 1) % pages.order.len();
        reads += 1;
        Ok(())
    };
    let storage = Storage::watch(&file)?;
    b.single(&mut prepare, &mut read)?;
    time_tail(b, &mut prepare, &mut read)?;
    cache.claim_seen(
        b,
        "pages of the file in the page cache before a read",
        0,
        seen,
    );
    pages.claim_order(b);
    storage.claim_fetched(b, pages.bytes(reads))?;
    tell_guest(b);
    Ok(())
}
