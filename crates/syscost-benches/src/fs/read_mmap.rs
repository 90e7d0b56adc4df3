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

use std::cell::Cell;
use std::collections::HashMap;

use rustix::mm::{Advice, ProtFlags};
use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::counters::Usage;

use super::blocks::{Access, Blocks};
use super::labels;
use super::read::FILE;
use super::reader::read_through;
use super::space::{Stamped, Storage};
use super::transfer::{Observes, Source, State, Tally, Transfer};
use crate::memory::space::file::Mapped;
use crate::witness::files::DIRECTORY;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Mapped file read, per page",
    tags: "mmap, memory-mapped file, page fault, page cache, cold cache, bw_mmap_rd",
    ..Benchmark::of::<ReadMmap>()
};

/// Maximum number of mappings per batch, read one after another.
const MAPPINGS: u64 = 2;

/// Allowed faults per page: a stray fault may be caused by the process itself.
const FAULTS: f64 = 0.02;

/// The order in which pages are read, judged by their content.
static BEHIND_ANOTHER: Witness = Witness::of(
    "pages read right behind the one before them in the file",
    "content of the pages",
)
.only_in(Pass::Evidence);

#[derive(Params, Clone)]
struct ReadMmap {
    /// The directory's label.
    dir: String,
    access: Access,
    cache: State,
}

impl Measured for ReadMmap {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(ReadMmap {
            dir: labels(here),
            cache: [State::Warm, State::Cold],
            access: Access::ALL
        })
    }

    fn ignores_interference(&self) -> bool {
        self.cache != State::Warm
    }

    fn proofs(&self) -> ReadMmapProofs<Proof> {
        let blocks = self.blocks();
        let (behind, left) = match self.access {
            Access::Sequential => (blocks.count() - 1, blocks.count()),
            Access::Random => (0, 1),
        };
        ReadMmapProofs {
            dir: DIRECTORY.expects(&*self.dir),
            access: BEHIND_ANOTHER.expects(behind).and(blocks.whole()),
            cache: self.cache.proof(FILE, left),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let blocks = self.blocks();
        let source = Source::open(&mut plan, &self.dir, FILE, self.cache, blocks.size)?;
        let mapped = Mapped::of(
            source.file(),
            (FILE / blocks.size.0) as usize,
            ProtFlags::READ,
        )?;
        let pages = Pages::of(&mut plan, &mapped, source.written(), blocks);
        let mut outcome = match (self.cache, self.access) {
            (State::Warm, _) => warm(plan, &source, &pages)?,
            (State::Cold | State::Direct, Access::Sequential) => {
                cold_in_order(plan, &source, pages.clone())?
            }
            (State::Cold | State::Direct, Access::Random) => {
                read_through(source.written(), source.file())?;
                mapped.advise(Advice::Random)?;
                plan.expect(within(Counter::MajorFaults, 0.99, 1.01));
                let by = &mut pages.clone();
                source.each(plan, by, 2.0, || mapped.unmap_pages())?
            }
        };
        if !outcome.is_timed() {
            // A rotating disk would take many seconds to read all of them at random.
            read_through(source.written(), source.file())?;
            let read = |number| mapped.read_words(number);
            let behind = behind_another(&pages.order, &pages.sums, read);
            outcome.observe(&BEHIND_ANOTHER, behind);
        }
        Ok(outcome)
    }
}

impl ReadMmap {
    fn blocks(&self) -> Blocks {
        Blocks {
            access: self.access,
            size: Bytes(page_size() as u64),
            all: FILE,
        }
    }
}

/// The pages of the file, in the order in which they are read.
#[derive(Clone)]
struct Pages<'m> {
    mapped: &'m Mapped,
    order: Vec<usize>,
    /// The sum of the words of each page, by number.
    sums: Vec<u64>,
    next: usize,
    reads: u64,
}

impl<'m> Pages<'m> {
    fn of(b: &mut Bencher, mapped: &'m Mapped, written: &Stamped, blocks: Blocks) -> Self {
        let order = blocks.access.order(blocks.count(), b.random());
        let mut part = vec![0; blocks.size.get()];
        let sums = (0..blocks.count()).map(|number| {
            written.content(&mut part, number * blocks.size.0);
            let (words, _) = part.as_chunks();
            let words = words.iter().map(|word| u64::from_le_bytes(*word));
            words.fold(0, u64::wrapping_add)
        });
        Self {
            mapped,
            sums: sums.collect(),
            order: order.into_iter().map(|number| number as usize).collect(),
            next: 0,
            reads: 0,
        }
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

    fn read_all(&self, mapped: &Mapped) -> Result<(), Failure> {
        let mut order = self.order.iter();
        order.try_for_each(|number| self.read(mapped, *number))
    }
}

/// How many pages directly follow the one read before them, where pages are read in this order:
/// judged by the sums that reading them gives, of which those of all pages are known.
fn behind_another(order: &[usize], sums: &[u64], read: impl Fn(usize) -> u64) -> u64 {
    let numbers = sums.iter().enumerate();
    let numbers: HashMap<u64, usize> = numbers.map(|(number, sum)| (*sum, number)).collect();
    let read = |number: &usize| numbers.get(&read(*number)).copied();
    let seen: Vec<Option<usize>> = order.iter().map(read).collect();
    let is_next = |pair: &&[Option<usize>]| match pair {
        [Some(one), Some(other)] => *other == one + 1,
        _ => false,
    };
    seen.windows(2).filter(is_next).count() as u64
}

impl Transfer for Pages<'_> {
    #[inline(always)]
    fn next(&mut self) -> Result<(), Failure> {
        self.read(self.mapped, self.order[self.next])?;
        self.next = (self.next + 1) % self.order.len();
        self.reads += 1;
        Ok(())
    }

    fn lap(&mut self) -> Result<(), Failure> {
        self.read_all(self.mapped)?;
        self.reads += self.order.len() as u64;
        Ok(())
    }

    fn tally(&self) -> Tally {
        Tally {
            blocks: self.order.len() as u64,
            size: page_size() as u64,
            transfers: self.reads,
        }
    }
}

fn warm<'p>(mut plan: Plan<'p>, source: &Source, pages: &Pages) -> Result<Outcome<'p>, Failure> {
    let mappings = (0..MAPPINGS)
        .map(|_| Mapped::of(source.file(), pages.sums.len(), ProtFlags::READ))
        .collect::<Result<Vec<_>, _>>()?;
    let unmap = || mappings.iter().try_for_each(Mapped::unmap_pages);
    unmap()?;
    let mapped: usize = mappings.iter().map(Mapped::mapped).sum::<Result<_, _>>()?;
    plan.claim_equal("pages mapped before they are read", 0, mapped, "pagemap");
    let before = Usage::thread()?;
    pages.read_all(&mappings[0])?;
    let faults = (Usage::thread()? - before).minor_faults.max(1);
    let (claim, mapped) = ("pages mapped once they are read", mappings[0].mapped()?);
    let mut read = pages.tally();
    let bound = Bound::Within(read.blocks as f64, pages.sums.len() as f64);
    plan.claim_within(claim, bound, mapped as f64, "pagemap");
    let per_page = faults as f64 / read.blocks as f64;
    plan.expect(within(
        Counter::MinorFaults,
        per_page / 1.1 - FAULTS,
        1.1 * per_page + FAULTS,
    ));
    plan.detail("pages_per_fault", 1.0 / per_page);
    let storage = Storage::watch(source.file());
    let batches = Loop::batches(read.blocks, |iterations| {
        mappings[..iterations as usize]
            .iter()
            .try_for_each(|mapped| pages.read_all(mapped))
    });
    let mut outcome = plan.measure(batches.prepared(MAPPINGS, |_| unmap()))?;
    read.transfers = outcome.operations();
    source.see(&mut outcome, &storage, read)?;
    Ok(outcome)
}

fn cold_in_order<'p>(
    plan: Plan<'p>,
    source: &Source,
    mut pages: Pages,
) -> Result<Outcome<'p>, Failure> {
    let (mapped, blocks) = (pages.mapped, pages.order.len() as f64);
    let forget = || mapped.unmap_pages();
    let (before, times) = (Usage::thread()?.major_faults, Cell::new(0.0_f64));
    let look = || {
        times.set(times.get() + 1.0);
        Ok(())
    };
    let mut outcome = source.laps(plan, &mut pages, Observes::Time, forget, look)?;
    let each = (Usage::thread()?.major_faults - before) as f64 / times.get().max(1.0);
    let claim = "major page faults each time the file is read";
    // Each page may be one.
    outcome.claim_within(claim, Bound::Within(1.0, blocks), each, "getrusage");
    if each > 0.0 {
        outcome.detail("pages_per_major_fault", blocks / each);
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_says_in_which_order_pages_were_read() {
        let sums = [70, 71, 72, 73];
        let read = |of: [u64; 4]| behind_another(&[0, 1, 2, 3], &sums, |number| of[number]);
        assert_eq!(read([70, 71, 72, 73]), 3);
        assert_eq!(read([70, 72, 71, 73]), 0, "another order");
        assert_eq!(read([70, 71, 5, 73]), 1, "a page of another file");
    }
}
