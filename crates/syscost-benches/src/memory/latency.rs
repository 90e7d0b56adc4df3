//! One load that depends on the one before it, by the amount of memory, the order of visits and the
//! page size.
//!
//! ## Measures
//! A pointer chase through `size` bytes of memory: every cache line of it holds the address of
//! another, all linked into a single cycle. Each address comes from the previous load, so the time
//! per step is the load latency. With `access=random` each line is visited once per lap of the
//! chain and the next can be anywhere; `sequential` continues with the neighbouring line, `stride`
//! 256 bytes further.
//! ## Does not measure
//! Bandwidth, or how many loads can be outstanding at a time: `memory.parallelism`. Latency while
//! the memory is busy: `memory.loaded_latency`. Memory of another node: the kernel allocates pages
//! near the CPU that fills them.
//! ## Interpretation
//! A staircase: each plateau is a cache, the last one memory; the steps are where a cache ends, and
//! `memory.cache_size` and `memory.cache_latency` are derived from them. Latencies of the first
//! cache are whole core cycles. The difference between small pages and huge ones is translation:
//! with small ones a random step soon misses the TLB as well (`memory.tlb`). With `sequential` or
//! `stride`, prefetchers hide part of the latency. A large shared cache has no sharp end, and in a
//! virtual machine others use it too. Of memory beyond 64 MiB a measurement walks only a part:
//! lines at random places, of which a cache holds no more than its share. The largest is 256 MiB;
//! full runs go to 1 GiB in the largest pages, careful ones in all, where twice that is available.
//! ## Source
//! The random cycle is Sattolo's (Information Processing Letters 22, 1986). The idea of pointer
//! chasing for latency is from lmbench's lat_mem_rd.

use std::cell::RefCell;
use std::collections::BTreeSet;

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Chase, LINE, Order, Route};

use super::chases;
use crate::witness::memory;

/// Sizes at which orders other than the random one are measured.
const FEW: [Bytes; 4] = [FIRST, Bytes::kib(960), Bytes::mib(24), FAR];

/// Within the first cache, within the second, and within the last of most processors.
const FIRST: Bytes = Bytes::kib(16);
const SECOND: Bytes = Bytes::kib(240);
const THIRD: Bytes = Bytes::mib(6);

/// Beyond most caches.
const FAR: Bytes = Bytes::mib(128);

/// Sizes that the quick profile uses: filling most of a last-level cache takes a tenth of a second
/// in each round.
const QUICK: [(Bytes, Pages); 4] = [
    (FIRST, Pages::Small),
    (SECOND, Pages::Small),
    (THIRD, Pages::Huge),
    (FAR, Pages::Huge),
];

/// From this size on the set-up takes longer than the measurement.
const EXPENSIVE: Bytes = Bytes::mib(64);

/// Rate at which long cycles are laid, into memory that is already allocated: a worker fills it for
/// its longest case.
const BYTES_PER_SECOND: f64 = (2 << 30) as f64;

/// The largest size of standard runs, and those that full runs have beyond it in the largest pages:
/// some last caches hold more.
const LARGEST: Bytes = Bytes::mib(256);
const BEYOND: [Bytes; 2] = [Bytes::mib(512), Bytes::mib(1024)];

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Load-to-use latency, dependent loads",
    tags: "memory latency, cache latency, dram latency, dependent-load latency, pointer chasing, \
        pointer chase, random access, huge pages, lat_mem_rd, multichase",
    roles: roles!(
        MemoryLatency { .. } => Role::Load,
        MemoryLatency { access: Access::Random, .. } => Role::RandomLoad,
        MemoryLatency { pages: Pages::Small, access: Access::Random, size: FIRST } => Role::LoadIn16K,
        MemoryLatency { pages: Pages::Small, access: Access::Random, size: SECOND } => Role::LoadIn240K,
        MemoryLatency { pages: Pages::Huge, access: Access::Random, size: THIRD } => Role::LoadIn6M,
        MemoryLatency { pages: Pages::Huge, access: Access::Random, size: FAR } => Role::LoadIn128M,
    ),
    ..Benchmark::of::<MemoryLatency>()
};

/// The order in which lines are visited.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Random,
    Sequential,
    Stride,
}

#[derive(Params, Clone)]
pub(super) struct MemoryLatency {
    pub(super) pages: Pages,
    pub(super) access: Access,
    /// Bytes of the memory that is walked.
    pub(super) size: Bytes,
}

impl MemoryLatency {
    /// Whether runs that are not careful include it. The largest ones take long to fill.
    fn is_common(&self) -> bool {
        let is_filled_fast = self.size <= LARGEST || self.pages == chases::largest();
        sizes().contains(&self.size) && is_filled_fast
    }

    fn is_quick(&self) -> bool {
        self.access == Access::Random && QUICK.contains(&(self.size, self.pages))
    }

    /// Whether a default run includes it: of the pages from which caches are computed, two sizes in
    /// each doubling while going through them is short, then one; of the others and of other orders
    /// a few.
    fn is_read_first(&self) -> bool {
        let Bytes(bytes) = self.size;
        match self.access {
            Access::Random if self.is_of_caches() && self.size <= LARGEST => {
                match bytes >> bytes.trailing_zeros() {
                    1 | 3 => true,
                    9 => self.size < Bytes::mib(6),
                    _ => false,
                }
            }
            Access::Random => QUICK.iter().any(|(quick, _)| *quick == self.size),
            Access::Sequential => self.size == FAR,
            Access::Stride => false,
        }
    }

    /// Whether caches are computed from it: random order, in the largest pages, where translation
    /// disturbs least.
    pub(super) fn is_of_caches(&self) -> bool {
        self.access == Access::Random && self.pages == chases::largest()
    }
}

impl Measured for MemoryLatency {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        // Pages of 1 GiB only where some are set aside.
        let here = Pages::here();
        let gigantic = here.into_iter().filter(|pages| *pages == Pages::Gigantic);
        let pages = [Pages::Small, Pages::Huge].into_iter().chain(gigantic);
        let all: BTreeSet<Bytes> = sizes().into_iter().chain(between()).collect();
        let others = [Access::Sequential, Access::Stride];
        [
            rows!(MemoryLatency {
                pages,
                access: [Access::Random],
                size: all.iter().copied()
            }),
            rows!(MemoryLatency {
                pages: [Pages::Small],
                access: others,
                size: FEW
            }),
        ]
        .concat()
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match () {
            () if !self.is_common() => Profile::Careful,
            () if !self.is_read_first() => Profile::Full,
            () if self.is_quick() => Profile::Quick,
            () => Profile::Standard,
        }
    }

    fn setup(&self) -> Option<Setup> {
        let seconds = self.size.0 as f64 / BYTES_PER_SECOND;
        (self.size >= EXPENSIVE).then_some(Setup::Expensive { seconds })
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        self.pages.bytes().map(drop)
    }

    fn proofs(&self) -> MemoryLatencyProofs<Proof> {
        MemoryLatencyProofs {
            pages: memory::in_pages(self.pages),
            access: match self.access {
                Access::Random => chases::in_random_order(self.size),
                Access::Sequential => chases::line_by_line(),
                Access::Stride => chases::by_four_lines(),
            },
            size: chases::through(self.size),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let bytes = self.size.get();
        let (spacing, order) = match self.access {
            Access::Random => (LINE, Order::Random(plan.random().u64(..))),
            Access::Sequential => (LINE, Order::Ascending),
            Access::Stride => (chases::FOUR_LINES, Order::Ascending),
        };
        let route = Route {
            bytes,
            spacing,
            order,
        };
        let chase = Chase::new(filled(self.size, self.pages)?, route, 1)?;
        memory::look_at_pages(&mut plan, chase.memory())?;
        chases::claim_lines(&mut plan, &chase, bytes / spacing, spacing);
        chases::claim_one_chain(&mut plan, &chase);
        chases::look(&mut plan, &chase);
        chases::go_round(&plan, &chase);
        let mut outcome = plan.measure(Kernel::of(&chase))?;
        chases::look_again(&mut outcome, &chase)?;
        put_back(chase.into_memory());
        Ok(outcome)
    }
}

/// Additional sizes of careful runs: eight sizes in each doubling from 24 KiB to 48 MiB.
fn between() -> impl Iterator<Item = Bytes> {
    (0..11).flat_map(|doubling| (8..16).map(move |part| Bytes::kib((3 << doubling) * part)))
}

/// Four sizes in each doubling where first and second caches end, two where third ones may, fewer
/// elsewhere. They do not depend on the sizes that the machine reports, which may be arbitrary in a
/// virtual one.
fn sizes() -> Vec<Bytes> {
    let quarters =
        (0..8).flat_map(|doubling| (4..8).map(move |part| Bytes::kib((6 << doubling) * part)));
    let halves =
        (0..3).flat_map(|doubling| (2..4).map(move |part| Bytes::mib((3 << doubling) * part)));
    [1, 4, 16]
        .map(Bytes::kib)
        .into_iter()
        .chain(quarters)
        .chain(halves)
        .chain([EXPENSIVE, FAR, LARGEST])
        .chain(BEYOND)
        .collect()
}

thread_local! {
    /// Long memory that the cases of one worker reuse: it takes longer to fill than to measure.
    /// Processes that are forked for an audit do not inherit it, and end without dropping this.
    static POOL: RefCell<Vec<Memory>> = const { RefCell::new(Vec::new()) };
}

fn filled(size: Bytes, pages: Pages) -> Result<Memory, Unsupported> {
    let bytes = size.get();
    if size < EXPENSIVE {
        return Memory::fill(bytes, pages);
    }
    let known = POOL.with_borrow_mut(|pool| {
        let index = pool.iter().position(|memory| memory.pages() == pages)?;
        Some(pool.swap_remove(index))
    });
    match known.filter(|memory| memory.bytes() >= bytes) {
        Some(memory) => {
            memory.copy_to_children(true)?;
            Ok(memory)
        }
        // Memory that is too short is released: a quick run needs no more than its one long case.
        None => Memory::fill(bytes, pages).or_else(|_| {
            // The memory kept for other cases may be what is missing.
            POOL.take();
            Memory::fill(bytes, pages)
        }),
    }
}

fn put_back(memory: Memory) {
    if memory.bytes() >= EXPENSIVE.get() && memory.copy_to_children(false).is_ok() {
        POOL.with_borrow_mut(|pool| pool.push(memory));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_rise_and_are_whole_lines() {
        let sizes = sizes();
        assert!(sizes.is_sorted_by(|a, b| a < b), "{sizes:?}");
        assert!(sizes.iter().all(|size| size.get().is_multiple_of(LINE)));
        let quick = QUICK.iter().map(|(size, _)| size);
        assert!(FEW.iter().chain(quick).all(|few| sizes.contains(few)));
        for (from, to, steps) in [(24, 6 << 10, 4.0), (6 << 10, 64 << 10, 1.9)] {
            let within = sizes
                .iter()
                .filter(|size| (Bytes::kib(from)..Bytes::kib(to)).contains(*size));
            let doublings = (to as f64 / from as f64).log2();
            assert!(within.count() as f64 >= steps * doublings - 1.0);
        }
    }
}
