//! A load that depends on the one before it, each on another page.
//!
//! ## Measures
//! A pointer chase in random order through one cache line of each of `count` pages of the kernel's
//! base size. The lines are few, so they stay in a near cache, and they lie at a different place in
//! each page, so that no set of a cache has to hold more of them than another. The translations of
//! `count` pages do not stay in the TLB.
//! ## Does not measure
//! The cost of a miss alone: `memory.tlb_miss` subtracts the cost of as many dense lines. Huge
//! pages, of which one TLB entry covers as much as hundreds of small ones.
//! ## Interpretation
//! Compare with `memory.latency` for the same number of lines, 64 bytes each: the difference is
//! translation. It begins where the first TLB ends (`memory.tlb_reach`); a second TLB adds a few
//! cycles, and beyond it the processor walks page tables, of which a virtual machine has two sets.
//! ## Source
//! Not part of any published experiment here.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Chase, Order, Route};
use syscost_sys::memory::{Memory, Pages};

use super::chases;

/// The key of the parameter with the number of pages, each of which has one line.
pub(super) const COUNT: &str = "count";

/// From this number of pages on, the set-up takes longer than the measurement.
const EXPENSIVE: u64 = 16_384;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "memory.tlb",
    title: "Load-to-use latency, one line per page",
    tags: &[
        "dependent-load latency",
        "pointer chasing",
        "translation lookaside buffer",
        "dtlb",
        "page walk",
        "tlb",
    ],
    cases: Cases::Here(cases),
    quick: |case| [512, 4096].contains(&case.number(COUNT)),
    full: |case| !case.number(COUNT).is_power_of_two() || case.number(COUNT) > 8192,
    support: chases::support,
    run,
    source: include_str!("tlb.rs"),
    ..Benchmark::DEFAULT
};

fn cases(_: &Here) -> Vec<Case> {
    let halves = (0..10).flat_map(|doubling| (2..4).map(move |part| (4 << doubling) * part));
    halves
        .chain([8192, 16_384, 65_536])
        .map(|count: u64| {
            let case = Case::new([
                (Pages::KEY, Pages::Small.name().to_owned()),
                (COUNT, count.to_string()),
            ]);
            match count < EXPENSIVE {
                true => case,
                false => case.expensive(count as f64 / (1 << 18) as f64),
            }
        })
        .collect()
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let (count, page) = (b.case().number(COUNT) as usize, Pages::Small.bytes()?);
    let route = Route {
        bytes: count * page,
        spacing: page,
        order: Order::Random(b.random().u64(..)),
    };
    let memory = Memory::fill(route.bytes, chases::pages(b.case())?)?;
    let chase = Chase::new(memory, route, 1)?;
    chases::claim(b, &chase, count, page)?;
    chases::claim_chains(b, &chase, 1);
    chases::claim_random(b, &chase);
    b.kernel(&chase)
}
