//! Loads that do not depend on each other: how many misses can be outstanding simultaneously.
//!
//! ## Measures
//! `chains` independent pointer chases around the same random cycle through `size` bytes of memory,
//! evenly spaced on it; the time is that of one load, over all chains. Sizes are chosen to be in a
//! second cache, in a third one and in memory on most machines. Pages are huge where available.
//! ## Does not measure
//! What prefetchers do, or several cores together: `memory.bandwidth`. With 16 chains and more each
//! step also loads and stores its chain's place in a table, which a miss hides.
//! ## Interpretation
//! The time falls with the number of chains until the core has no more buffers for misses (its line
//! fill buffers, 10 to 24 in most cores) and then stays. `speedup` is how many times longer a load
//! takes with a single chain, measured in the same process: the number of misses that were actually
//! outstanding. Memory latency divided by the best of these is what a program pays that can request
//! everything at the same time, like a hash join with prefetching; a linked list pays the whole.
//! ## Source
//! Not part of any published experiment here.

use std::cell::RefCell;

use syscost_harness::prelude::*;
use syscost_stats::order;
use syscost_sys::kernel::{Chase, LINE, Order, Route};

use super::chases;
use crate::witness::memory;

/// The sizes, and the number of entries of `COUNTS` with which each is measured: in a near cache
/// the table of 16 and more chains would be visible.
const SIZES: [(Bytes, usize); 3] = [(Bytes::kib(512), 6), (MIDDLE, 7), (Bytes::mib(256), 11)];
const MIDDLE: Bytes = Bytes::mib(24);

/// From this size on, in bytes, the set-up takes longer than the measurement.
const EXPENSIVE: Bytes = Bytes::mib(64);

/// Seconds that a row of the largest size takes to get its chase, which is laid once per round for
/// all of them.
const SECONDS: f64 = 0.3 / COUNTS.len() as f64;

/// Numbers of chains, in an order of which any prefix is useful.
const COUNTS: [usize; 11] = [1, 2, 4, 8, 12, 6, 16, 3, 10, 24, 32];

/// Iterations of a single chain that determine the speed-up, and how often.
const TURNS: u64 = 8;
const TIMES: usize = 9;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Memory-level parallelism: independent loads",
    tags: "mlp, outstanding misses, cache misses in flight, line fill buffer, mshr, \
        miss status holding register, par_mem",
    ..Benchmark::of::<Parallelism>()
};

thread_local! {
    /// Chases shared by the cases of a worker: laying them takes longer than measuring.
    static CHASES: RefCell<Vec<Chase>> = const { RefCell::new(Vec::new()) };
}

#[derive(Params, Clone)]
struct Parallelism {
    pages: Pages,
    /// Bytes of the memory that is walked.
    size: Bytes,
    /// Independent chains of loads in flight at once.
    chains: usize,
}

impl Measured for Parallelism {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        let counts = |first: usize| {
            let mut counts = COUNTS[..first].to_vec();
            counts.sort_unstable();
            counts
        };
        let of = |(size, first): (Bytes, usize)| {
            rows!(Parallelism {
                pages: [chases::largest()],
                size: [size],
                chains: counts(first)
            })
        };
        SIZES.into_iter().flat_map(of).collect()
    }

    /// A default run has some points of the curves in the second-level cache and in memory.
    fn profile(&self, _: &Testbed) -> Profile {
        match self.chains {
            1 | 4 | 16 if self.size != MIDDLE => Profile::Standard,
            0.. => Profile::Full,
        }
    }

    fn setup(&self) -> Option<Setup> {
        (self.size >= EXPENSIVE).then_some(Setup::Expensive { seconds: SECONDS })
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        self.pages.bytes().map(drop)
    }

    fn proofs(&self) -> ParallelismProofs<Proof> {
        ParallelismProofs {
            pages: memory::in_pages(self.pages),
            size: chases::through(self.size),
            chains: chases::in_chains(self.chains),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let bytes = self.size.get();
        let known = CHASES.with_borrow_mut(|chases| {
            let known = chases.iter().position(|chase| chase.route().bytes == bytes);
            known.map(|index| chases.swap_remove(index))
        });
        let mut chase = match known {
            Some(chase) => chase,
            None => {
                let route = Route::dense(bytes, Order::Random(plan.random().u64(..)));
                Chase::new(Memory::fill(bytes, self.pages)?, route, 1)?
            }
        };
        memory::look_at_pages(&mut plan, chase.memory())?;
        chases::look_at_span(&mut plan, &chase);
        chases::claim_lines(&mut plan, &chase, bytes / LINE, LINE);
        chases::claim_random(&mut plan, &chase);
        // At another place of the cycle than the case before.
        let first = plan.random().usize(..chase.lines());
        let single_ns = match plan.is_timed() {
            true => Some(single(&plan, &mut chase, first)?),
            false => None,
        };
        chase.set_chains(self.chains, first / 2)?;
        chases::look_at_chains(&mut plan, &chase);
        chases::go_round(&plan, &chase);
        let mut outcome = plan.measure(Kernel::of(&chase))?;
        if let (Some(single_ns), Some(median)) = (single_ns, outcome.median()) {
            outcome.detail("speedup_ratio", single_ns / median);
        }
        chases::look_again(&mut outcome, &chase)?;
        CHASES.with_borrow_mut(|chases| chases.push(chase));
        Ok(outcome)
    }
}

/// The time of a load with one chain, in ns.
fn single(b: &Bencher, chase: &mut Chase, first: usize) -> Result<f64, Failure> {
    chase.set_chains(1, first)?;
    let mut times = Vec::with_capacity(TIMES);
    for _ in 0..TIMES {
        times.push(b.time_of(chase, TURNS)?);
    }
    Ok(order::high_median(&times).expect("there are several"))
}
