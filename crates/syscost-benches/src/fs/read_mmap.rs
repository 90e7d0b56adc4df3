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
use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::counters::Usage;

use super::access::Access;
use super::labels;
use super::named::claim_whole;
use super::read::FILE;
use super::reader::read_through;
use super::source::{Source, State};
use super::space::{Stamped, Storage};
use super::tail::{expect_waits, measure_each};
use crate::implied::{Implied, Shares};
use crate::memory::space::file::Mapped;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Mapped file read, per page",
    tags: &[
        "mmap",
        "memory-mapped file",
        "page fault",
        "page cache",
        "cold cache",
        "bw_mmap_rd",
    ],
    ..Benchmark::of::<Row>()
};

/// Maximum number of mappings per batch, read one after another.
const MAPPINGS: u64 = 2;

/// Allowed faults per page: a stray fault may be caused by the process itself.
const FAULTS: f64 = 0.02;

/// Where faults find the pages of the file.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Cached {
    Warm,
    Cold,
}

#[derive(Params, Clone)]
struct Row {
    /// The directory's label.
    dir: String,
    access: Access,
    cache: Cached,
}

impl Measured for Row {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Here) -> Vec<Case<Self>> {
        rows!(Row {
            dir: labels(here),
            cache: Cached::ALL,
            access: Access::ALL
        })
    }

    fn ignores_interference(&self) -> bool {
        self.cache == Cached::Cold
    }

    fn run(self, b: &mut Bencher) -> Result<(), Failure> {
        let (state, measure): (_, fn(&mut Bencher, &Source, &Pages) -> _) =
            match (self.cache, self.access) {
                (Cached::Warm, Access::Sequential | Access::Random) => (State::Warm, warm),
                (Cached::Cold, Access::Sequential) => (State::Cold, cold_in_order),
                (Cached::Cold, Access::Random) => (State::Cold, cold_at_random),
            };
        let page = Bytes(page_size() as u64);
        let source = Source::open(b, &self.dir, FILE, state, page)?;
        let pages = Pages::of(b, source.written(), self.access);
        measure(b, &source, &pages)
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
    fn of(b: &mut Bencher, written: &Stamped, access: Access) -> Self {
        let page = page_size() as u64;
        let count = written.bytes() / page;
        let order = access.order(count, b.random());
        let mut part = vec![0; page as usize];
        let sums = (0..count).map(|number| {
            written.content(&mut part, number * page);
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
        times * page_size() as u64
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

fn warm(b: &mut Bencher, source: &Source, pages: &Pages) -> Result<(), Failure> {
    let mappings = (0..MAPPINGS)
        .map(|_| pages.map(source.file()))
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
    let storage = Storage::watch(source.file())?;
    b.prepared_batches(
        pages.count(),
        MAPPINGS,
        |_| unmap(),
        |iterations| {
            mappings[..iterations as usize]
                .iter()
                .try_for_each(|mapped| pages.read_all(mapped))
        },
    )?;
    storage.claim_unused(b, pages.bytes(b.operations()))
}

fn cold_in_order(b: &mut Bencher, source: &Source, pages: &Pages) -> Result<(), Failure> {
    let mapped = pages.map(source.file())?;
    expect_waits(b, source.cache().pages());
    let (mut major, mut times) = (0, 0_u64);
    let (clock, mut implied) = (*b.clock(), Implied::default());
    let storage = Storage::watch(source.file())?;
    b.observe(|| {
        mapped.unmap_pages()?;
        source.prepare()?;
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
    source.claim(b, "it is read")?;
    let each = major as f64 / times.max(1) as f64;
    let claim = "major page faults each time the file is read";
    b.claim_within(claim, Bound::AtLeast(1.0), each, "getrusage");
    if each > 0.0 {
        b.detail("pages_per_major_fault", pages.count() as f64 / each);
    }
    storage.claim_fetched(b, pages.bytes(times * pages.count()))?;
    pages.claim_order(b, &mapped);
    Ok(())
}

fn cold_at_random(b: &mut Bencher, source: &Source, pages: &Pages) -> Result<(), Failure> {
    read_through(source.written(), source.file())?;
    let mapped = pages.map(source.file())?;
    mapped.advise(Advice::Random)?;
    b.expect(within(Counter::MajorFaults, 0.99, 1.01));
    b.expect(at_most(Counter::VoluntarySwitches, 2.0));
    let prepare = || {
        mapped.unmap_pages()?;
        source.prepare()
    };
    let (mut next, mut reads) = (0, 0);
    let read = || {
        pages.read(&mapped, pages.order[next])?;
        next = (next + 1) % pages.order.len();
        reads += 1;
        Ok(())
    };
    let storage = Storage::watch(source.file())?;
    measure_each(b, prepare, read)?;
    source.claim(b, "a read")?;
    storage.claim_fetched(b, pages.bytes(reads))?;
    // A rotating disk would take many seconds to read all of them at random.
    read_through(source.written(), source.file())?;
    pages.claim_order(b, &mapped);
    Ok(())
}

#[cfg(test)]
mod tests {
    use syscost_harness::bencher::Pass;
    use syscost_harness::directory::DEFAULT;
    use syscost_results::Verdict;

    use super::*;
    use crate::testing::{claims, found_of};

    #[test]
    fn nothing_is_refuted_of_any_order() {
        for cache in Cached::ALL {
            for access in Access::ALL {
                let dir = DEFAULT.to_owned();
                let row = Row { dir, access, cache };
                let none = Case::default();
                let Some(found) = found_of(&none, Pass::Evidence, &[], |b| row.run(b)) else {
                    continue;
                };
                let mut refuted = claims(&found, Verdict::Refuted);
                // Tests that run at the same time fork, and compete for the CPUs.
                refuted.retain(|claim| claim.starts_with("pages"));
                assert_eq!(refuted, [""; 0], "{cache:?} {access:?}");
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
