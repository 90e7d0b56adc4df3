//! Two loads near each other, then two elsewhere.
//!
//! ## Measures
//! A pointer chase through 128 MiB in blocks of 1 KiB, in random order: in each block a load
//! somewhere, then, dependent on it, one `distance` bytes higher or lower. The time is that of one
//! load, the mean of both. Place and direction are random: AMD cores learn which lines of a region
//! follow its first one, and would prefetch the second one if it were always the next higher line.
//! ## Does not measure
//! Which cache the first load of a block misses: all caches smaller than 8 MiB, and usually the TLB as well.
//! ## Interpretation
//! If both words are on one line, the second load hits the first cache, and the mean is half of a
//! miss. Where the cost rises, the line ends: `memory.line_size`. If the cost is lower at the
//! line's size than at twice that, the processor fetches lines in pairs.
//! ## Source
//! Not part of any published experiment here.

use std::cell::RefCell;

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Chase, Order, Route};

use super::chases;

/// Bytes of the memory, and of the block of which one place, and the one at the distance from it, are loaded.
const BYTES: usize = 128 << 20;
const BLOCK: usize = 1024;

/// The distances in bytes, from the smallest.
const DISTANCES: [u64; 7] = [CLOSEST, 32, 48, 64, 128, 256, 512];
const CLOSEST: u64 = 16;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Spatial locality: second load, by distance",
    tags: "cache line, spatial locality, adjacent-line prefetch, hardware prefetcher, line",
    ..Benchmark::of::<Line>()
};

static DISTANCE: Witness = Witness::of("bytes of every second step, up or down", "walk");

const SHARE: &str = "share of steps by that distance, up or down";
const UPWARDS: &str = "share of steps by that distance upwards";

thread_local! {
    /// Memory shared by the cases of a worker: filling it takes longer than measuring.
    static MEMORY: RefCell<Option<Memory>> = const { RefCell::new(None) };
}

#[derive(Params, Clone)]
pub(super) struct Line {
    /// Bytes from one load to the next.
    pub(super) distance: Bytes,
}

impl Measured for Line {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Line {
            distance: DISTANCES.map(Bytes)
        })
    }

    fn proofs(&self) -> LineProofs<Proof> {
        LineProofs {
            distance: DISTANCE.expects(self.distance.0),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let distance = self.distance.get();
        let memory = match MEMORY.take() {
            Some(memory) => memory,
            None => Memory::fill(BYTES, Pages::Small)?,
        };
        let route = Route {
            bytes: BYTES,
            spacing: BLOCK,
            order: Order::Pairs {
                distance,
                seed: plan.random().u64(..),
            },
        };
        let chase = Chase::new(memory, route, 1)?;
        plan.claim_resident(chase.memory())?;
        chases::claim_lines(&mut plan, &chase, 2 * BYTES / BLOCK, CLOSEST as usize);
        chases::claim_one_chain(&mut plan, &chase);
        let seen = chase.most_frequent_distance();
        plan.observe(&DISTANCE, seen);
        let share = chase.share_of_steps_apart(seen);
        plan.claim_within(SHARE, Bound::Within(0.49, 0.51), share, "walk");
        let upwards = chase.share_of_steps(seen);
        plan.claim_within(UPWARDS, Bound::Within(0.2, 0.3), upwards, "walk");
        let outcome = plan.measure(Kernel::of(&chase))?;
        MEMORY.set(Some(chase.into_memory()));
        Ok(outcome)
    }
}
