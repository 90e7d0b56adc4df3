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
use syscost_sys::kernel::{Chase, LINE, Order, Route};

use super::chases;
use crate::witness::memory;

static VISITED: Witness = Witness::of("pages visited in one round of the chase", "walk");

/// From this number of pages on, the set-up takes longer than the measurement.
const EXPENSIVE: u64 = 16_384;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Load-to-use latency, one line per page",
    tags: "dependent-load latency, pointer chasing, translation lookaside buffer, dtlb, page walk, \
        tlb",
    roles: roles!(Tlb { pages: Pages::Small, count: 4096 } => Role::LoadPerPage),
    ..Benchmark::of::<Tlb>()
};

#[derive(Params, Clone)]
pub(super) struct Tlb {
    pub(super) pages: Pages,
    /// Pages that are visited in turn, one line of each.
    pub(super) count: u64,
}

impl Measured for Tlb {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        let halves = (0..10).flat_map(|doubling| (2..4).map(move |part| (4 << doubling) * part));
        let counts = halves.chain([8192, 16_384, 65_536]);
        rows!(Tlb {
            pages: [Pages::Small],
            count: counts.clone()
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.count {
            512 | 4096 => Profile::Quick,
            count if !count.is_power_of_two() || count > 8192 => Profile::Full,
            0.. => Profile::Standard,
        }
    }

    fn setup(&self) -> Option<Setup> {
        let seconds = self.count as f64 / (1 << 18) as f64;
        (self.count >= EXPENSIVE).then_some(Setup::Expensive { seconds })
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        self.pages.bytes().map(drop)
    }

    fn proofs(&self) -> TlbProofs<Proof> {
        TlbProofs {
            pages: memory::in_pages(self.pages),
            count: VISITED.expects(self.count),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let (count, page) = (self.count as usize, self.pages.bytes()?);
        let route = Route {
            bytes: count * page,
            spacing: page,
            order: Order::Random(plan.random().u64(..)),
        };
        let chase = Chase::new(Memory::fill(route.bytes, self.pages)?, route, 1)?;
        memory::look_at_pages(&mut plan, chase.memory())?;
        match chases::visited(&plan, &chase, page) {
            Some(visited) => plan.observe(&VISITED, visited),
            None => plan.unobserved(&VISITED, "a walk through all pages takes long"),
        }
        chases::claim_lines(&mut plan, &chase, count, LINE);
        chases::claim_one_chain(&mut plan, &chase);
        chases::claim_random(&mut plan, &chase);
        let mut outcome = plan.measure(Kernel::of(&chase))?;
        chases::look_beside(&mut outcome, &chase)?;
        Ok(outcome)
    }
}
