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
use syscost_sys::memory::{Memory, Pages};

use super::chases::{self, SIZE};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// The key of the parameter with the order of visits.
pub(super) const ACCESS: &str = "access";

/// Bytes from one line to the next with `access=stride`.
const STRIDE: usize = 256;

/// Sizes at which orders other than the random one are measured.
const FEW: [usize; 4] = [16 * KIB, 960 * KIB, 24 * MIB, 128 * MIB];

/// Sizes that the quick profile uses: filling most of a last-level cache takes a tenth of a second
/// in each round.
const QUICK: [(usize, Pages); 4] = [
    (16 * KIB, Pages::Small),
    (240 * KIB, Pages::Small),
    // Beyond the second cache and within the last of most processors.
    (6 * MIB, Pages::Huge),
    (128 * MIB, Pages::Huge),
];

/// From this size on, in bytes, the set-up takes longer than the measurement.
const EXPENSIVE: usize = 64 * MIB;

/// Rate at which long cycles are laid, into memory that is already allocated: a worker fills it for
/// its longest case.
const BYTES_PER_SECOND: f64 = (2 << 30) as f64;

/// The largest size of standard runs, and those that full runs have beyond it in the largest pages:
/// some last caches hold more.
const LARGEST: usize = 256 * MIB;
const BEYOND: [usize; 2] = [512 * MIB, 1024 * MIB];

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "memory.latency",
    title: "Load-to-use latency, dependent loads",
    tags: &[
        "memory latency",
        "cache latency",
        "dram latency",
        "dependent-load latency",
        "pointer chasing",
        "pointer chase",
        "random access",
        "huge pages",
        "lat_mem_rd",
        "multichase",
    ],
    cases: Cases::Here(cases),
    quick: |case| {
        let is_one = |(bytes, pages): &(usize, Pages)| {
            case.number(SIZE) as usize == *bytes && case.get(Pages::KEY) == pages.name()
        };
        case.get(ACCESS) == "random" && QUICK.iter().any(is_one)
    },
    full: |case| !is_read_first(case),
    careful: |case| !is_common(case),
    support: chases::support,
    run,
    source: include_str!("latency.rs"),
    ..Benchmark::DEFAULT
};

/// Whether runs that are not careful include this case. The largest ones take long to fill.
fn is_common(case: &Case) -> bool {
    let size = case.number(SIZE) as usize;
    let is_filled_fast = size <= LARGEST || case.get(Pages::KEY) == chases::largest().name();
    sizes().contains(&size) && is_filled_fast
}

/// Whether a default run includes this case: of the pages from which caches are derived, two sizes in
/// each doubling while going through them is short, then one; of the others and of other orders a
/// few.
fn is_read_first(case: &Case) -> bool {
    let size = case.number(SIZE) as usize;
    match (case.get(ACCESS), case.get(Pages::KEY)) {
        ("random", pages) if pages == chases::largest().name() && size <= LARGEST => {
            match size >> size.trailing_zeros() {
                1 | 3 => true,
                9 => size < 6 * MIB,
                _ => false,
            }
        }
        ("random", _) => QUICK.iter().any(|(quick, _)| *quick == size),
        ("sequential", _) => size == 128 * MIB,
        _ => false,
    }
}

fn cases(_: &Here) -> Vec<Case> {
    // Pages of 1 GiB only where some are set aside.
    let gigantic = Pages::here()
        .into_iter()
        .filter(|pages| *pages == Pages::Gigantic);
    let pages = [Pages::Small, Pages::Huge].into_iter().chain(gigantic);
    let random = pages.flat_map(|pages| {
        let sizes: BTreeSet<usize> = sizes().into_iter().chain(between()).collect();
        sizes.into_iter().map(move |bytes| (pages, "random", bytes))
    });
    let others = ["sequential", "stride"]
        .into_iter()
        .flat_map(|order| FEW.map(|bytes| (Pages::Small, order, bytes)));
    random
        .chain(others)
        .map(|(pages, order, bytes)| {
            let case = Case::new([
                (Pages::KEY, pages.name().to_owned()),
                (ACCESS, order.to_owned()),
                (SIZE, size_name(bytes)),
            ]);
            match bytes < EXPENSIVE {
                true => case,
                false => case.expensive(bytes as f64 / BYTES_PER_SECOND),
            }
        })
        .collect()
}

/// Additional sizes of careful runs: eight sizes in each doubling from 24 KiB to 48 MiB.
fn between() -> impl Iterator<Item = usize> {
    (0..11).flat_map(|doubling| (8..16).map(move |part| ((3 * KIB) << doubling) * part))
}

/// Four sizes in each doubling where first and second caches end, two where third ones may, fewer
/// elsewhere. They do not depend on the sizes that the machine reports, which may be arbitrary in a
/// virtual one.
fn sizes() -> Vec<usize> {
    let quarters =
        (0..8).flat_map(|doubling| (4..8).map(move |part| ((6 * KIB) << doubling) * part));
    let halves = (0..3).flat_map(|doubling| (2..4).map(move |part| ((3 * MIB) << doubling) * part));
    [1, 4, 16]
        .map(|kib| kib * KIB)
        .into_iter()
        .chain(quarters)
        .chain(halves)
        .chain([EXPENSIVE, 2 * EXPENSIVE, LARGEST])
        .chain(BEYOND)
        .collect()
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let bytes = b.case().number(SIZE) as usize;
    let (spacing, order) = match b.case().get(ACCESS) {
        "random" => (LINE, Order::Random(b.random().u64(..))),
        "sequential" => (LINE, Order::Ascending),
        "stride" => (STRIDE, Order::Ascending),
        _ => return Err(b.case().unknown(ACCESS)),
    };
    let memory = filled(bytes, chases::pages(b.case())?)?;
    let route = Route {
        bytes,
        spacing,
        order,
    };
    let chase = Chase::new(memory, route, 1)?;
    chases::claim(b, &chase, bytes / spacing, spacing)?;
    chases::claim_chains(b, &chase, 1);
    match order {
        Order::Random(_) => chases::claim_random(b, &chase),
        _ => chases::claim_steps(b, &chase, spacing, chases::UPWARDS),
    }
    chases::go_round(b, &chase);
    b.kernel(&chase)?;
    put_back(chase.into_memory());
    Ok(())
}

thread_local! {
    /// Long memory that the cases of one worker reuse: it takes longer to fill than to measure.
    /// Processes that are forked for an audit do not inherit it, and end without dropping this.
    static POOL: RefCell<Vec<Memory>> = const { RefCell::new(Vec::new()) };
}

/// Memory of at least this many bytes.
fn filled(bytes: usize, pages: Pages) -> Result<Memory, Unsupported> {
    if bytes < EXPENSIVE {
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
    if memory.bytes() >= EXPENSIVE && memory.copy_to_children(false).is_ok() {
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
        assert!(sizes.iter().all(|bytes| bytes % 64 == 0));
        assert!(
            FEW.iter()
                .chain(QUICK.iter().map(|(bytes, _)| bytes))
                .all(|few| sizes.contains(few))
        );
        for (from, to) in [(24 * KIB, 6 * MIB), (6 * MIB, 64 * MIB)] {
            let within = sizes.iter().filter(|bytes| (from..to).contains(*bytes));
            let steps = if from < MIB { 4.0 } else { 1.9 };
            let doublings = (to as f64 / from as f64).log2();
            assert!(within.count() as f64 >= steps * doublings - 1.0);
        }
    }

    #[test]
    fn a_careful_run_has_eight_sizes_in_each_doubling() {
        let all: BTreeSet<usize> = between().chain(sizes()).collect();
        for doubling in 0..11 {
            let from = (24 * KIB) << doubling;
            assert_eq!(all.range(from..2 * from).count(), 8, "from {from}");
        }
        let common = cases(&Here::now()).into_iter().filter(is_common).count();
        let few = FEW.len() * 2;
        // For pages of 1 GiB, if they are set aside, there are as many sizes as for others.
        let pages = if Pages::here().contains(&Pages::Gigantic) {
            3
        } else {
            2
        };
        let careful = (pages - 1) * BEYOND.len();
        assert_eq!(common, pages * sizes().len() + few - careful);
        assert!(cases(&Here::now()).len() > common + 80);
    }
}
