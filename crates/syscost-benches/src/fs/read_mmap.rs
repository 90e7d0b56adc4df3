//! Reading a file through a mapping.
//!
//! ## Measures
//! Adding up all words of a page of a mapped file of 8 MiB, per page. The pages are in none of the
//! process's page tables before, so that each has to be found by a fault first, its own or one
//! nearby.
//! - `cache=warm`: every page is in the page cache, brought in by reading the file in order; the
//!   kernel maps pages around the faulting one as well (`pages_per_fault`).
//! - `cache=cold`: no page is, and a fault waits for storage. With `access=sequential` the kernel
//!   reads around the page and ahead by its own rules, with `access=random` MADV_RANDOM keeps it
//!   from that, and each page is timed individually.
//! ## Does not measure
//! Creating the mapping (`memory.mmap`), or faults alone (`memory.page_fault`), which touch one
//! byte of a page.
//! ## Interpretation
//! Compared with `fs.read{size=4K}` it shows whether mapping or copying is the cheaper way to a page that
//! is used once; reading it again through a mapping costs nothing. For cold rows see `fs.read`.
//! ## Source
//! lmbench `bw_mmap_rd`, which also adds up words of a mapped file.

use std::collections::HashMap;
use std::time::Instant;

use rustix::mm::{Advice, ProtFlags};
use syscost_harness::prelude::*;
use syscost_sys::counters::Usage;

use super::access::Access;
use super::in_each_directory;
use super::named::claim_whole;
use super::read::reader;
use super::read::{CACHE, COLD, FILE, WARM, fill_cache};
use super::space::{Cache, Kept, Storage, detail_guest, kept};
use super::tail::{expect_waits, time_tail};
use crate::implied::{Implied, Shares};
use crate::memory::space::file::Mapped;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "fs.read_mmap",
    title: "Mapped file read, per page",
    tags: &[
        "mmap",
        "memory-mapped file",
        "page fault",
        "page cache",
        "cold cache",
        "bw_mmap_rd",
    ],
    cases: Cases::Here(cases),
    disregards_neighbours: |case| case.get(CACHE) != WARM,
    run,
    source: include_str!("read_mmap.rs"),
    ..Benchmark::DEFAULT
};

/// Maximum number of mappings per batch, read one after another.
const MAPPINGS: u64 = 2;

/// Allowed faults per page: a stray fault may be caused by the process itself.
const FAULTS: f64 = 0.02;

fn cases(here: &Here) -> Vec<Case> {
    let case = |cache| move |access: Access| Case::new([access.parameter(), (CACHE, cache)]);
    let cases = [WARM, COLD].into_iter();
    in_each_directory(
        here,
        &cases
            .flat_map(|cache| Access::ALL.map(case(cache)))
            .collect::<Vec<_>>(),
    )
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let kept = kept(b, FILE)?;
    let access = Access::of(b.case())?;
    let pages = Pages::of(b, &kept, access);
    match (b.case().get(CACHE), access) {
        (WARM, Access::Sequential | Access::Random) => warm(b, &kept, &pages),
        (COLD, Access::Sequential) => cold_in_order(b, &kept, &pages),
        (COLD, Access::Random) => cold_at_random(b, &kept, &pages),
        _ => Err(b.case().unknown(CACHE)),
    }
}

/// The pages of the file, in the order in which they are read.
struct Pages {
    access: Access,
    order: Vec<usize>,
    /// The sum of the words of each page, by number.
    sums: Vec<u64>,
}

impl Pages {
    fn of(b: &mut Bencher, kept: &Kept, access: Access) -> Self {
        let page = rustix::param::page_size() as u64;
        let count = kept.file.bytes() / page;
        let order = access.order(count, b.random());
        let mut part = vec![0; page as usize];
        let sums = (0..count).map(|number| {
            kept.file.content(&mut part, number * page);
            let (words, _) = part.as_chunks();
            let words = words.iter().map(|word| u64::from_le_bytes(*word));
            words.fold(0, u64::wrapping_add)
        });
        Self {
            access,
            sums: sums.collect(),
            order: order.into_iter().map(|number| number as usize).collect(),
        }
    }

    fn map(&self, file: &std::fs::File) -> Result<Mapped, Failure> {
        Mapped::of(file, self.sums.len(), ProtFlags::READ)
    }

    /// Reads a page and checks that it was the right one.
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

    /// How many bytes are read when each page is read this many times.
    fn bytes(&self, times: u64) -> u64 {
        times * rustix::param::page_size() as u64
    }

    /// Claims, in the evidence pass, the order in which they are read: they are read once more, and
    /// their content shows which they are.
    fn claim_order(&self, b: &mut Bencher, mapped: &Mapped) {
        if b.is_timed() {
            return;
        }
        claim_whole(b, self.sums.len() as u64, 1, self.order.len());
        let next = self.read_behind_another(|number| mapped.read_words(number));
        let expected = match self.access {
            Access::Sequential => self.count() - 1,
            Access::Random => 0,
        };
        let claim = "pages read right behind the one before them in the file";
        b.claim_equal(claim, expected, next, "content of the pages");
    }

    /// How many pages directly follow the one read before them, judged by the sums that reading them
    /// gives.
    fn read_behind_another(&self, read: impl Fn(usize) -> u64) -> u64 {
        let numbers = self.sums.iter().enumerate();
        let numbers: HashMap<u64, usize> = numbers.map(|(number, sum)| (*sum, number)).collect();
        let read = |number: &usize| numbers.get(&read(*number)).copied();
        let seen: Vec<Option<usize>> = self.order.iter().map(read).collect();
        let is_next = |pair: &&[Option<usize>]| match pair {
            [Some(one), Some(other)] => *other == one + 1,
            _ => false,
        };
        seen.windows(2).filter(is_next).count() as u64
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
    pages.claim_order(b, &mappings[0]);
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
    let mut emptied = cache.emptied(b)?;
    expect_waits(b, cache.pages());
    let (mut major, mut times) = (0, 0_u64);
    let (clock, mut implied) = (*b.clock(), Implied::default());
    let storage = Storage::watch(&file)?;
    b.observe(|| {
        mapped.unmap_pages()?;
        emptied.again()?;
        let before = Usage::thread()?;
        let begun = Instant::now();
        let ns = clocked(&clock, || pages.read_all(&mapped))?;
        let each = ns / pages.count() as f64;
        implied.note(each * pages.order.len() as f64, begun);
        major += (Usage::thread()? - before).major_faults;
        times += 1;
        Ok(each)
    })?;
    implied.claim(b, Shares::WHOLE);
    emptied.claim(b, "pages of the file in the page cache before it is read");
    let each = major as f64 / times.max(1) as f64;
    let claim = "major page faults each time the file is read";
    b.claim_within(claim, Bound::AtLeast(1.0), each, "getrusage");
    if each > 0.0 {
        b.detail("pages_per_major_fault", pages.count() as f64 / each);
    }
    storage.claim_fetched(b, pages.bytes(times * pages.count()))?;
    pages.claim_order(b, &mapped);
    detail_guest(b);
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
    let mut emptied = cache.emptied(b)?;
    let mut prepare = || {
        mapped.unmap_pages()?;
        emptied.again()
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
    emptied.claim(b, "pages of the file in the page cache before a read");
    storage.claim_fetched(b, pages.bytes(reads))?;
    // A rotating disk would take many seconds to read all of them at random.
    reader::read_through(&kept.file, &file)?;
    pages.claim_order(b, &mapped);
    detail_guest(b);
    Ok(())
}

#[cfg(test)]
mod tests {
    use syscost_harness::bencher::Pass;
    use syscost_harness::directory::{DEFAULT, KEY};
    use syscost_results::Verdict;

    use super::*;
    use crate::testing::{claims, found_of};

    #[test]
    fn nothing_is_refuted_of_any_order() {
        for cache in [WARM, COLD] {
            for access in Access::ALL {
                let case = Case::new([(KEY, DEFAULT), access.parameter(), (CACHE, cache)]);
                let Some(found) = found_of(&case, Pass::Evidence, &[], run) else {
                    continue;
                };
                let mut refuted = claims(&found, Verdict::Refuted);
                // Tests that run at the same time fork, and compete for the CPUs.
                refuted.retain(|claim| claim.starts_with("pages"));
                assert_eq!(refuted, [""; 0], "{case:?}");
                let order = "pages read right behind the one before them in the file";
                let confirmed = claims(&found, Verdict::Confirmed);
                assert!(confirmed.contains(&order), "{confirmed:?}");
            }
        }
    }

    #[test]
    fn content_says_in_which_order_pages_were_read() {
        let pages = Pages {
            access: Access::Sequential,
            order: vec![0, 1, 2, 3],
            sums: vec![70, 71, 72, 73],
        };
        let read = |of: [u64; 4]| pages.read_behind_another(|number| of[number]);
        assert_eq!(read([70, 71, 72, 73]), 3);
        assert_eq!(read([70, 72, 71, 73]), 0, "another order");
        assert_eq!(read([70, 71, 5, 73]), 1, "a page of another file");
    }
}
