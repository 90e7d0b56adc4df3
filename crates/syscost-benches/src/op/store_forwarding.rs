//! Loading what was stored just before.
//!
//! ## Measures
//! A chain through memory: a number is stored and loaded again, and one is added to it, which takes
//! a core cycle. `load` names the relation of the load to the store: `same` loads the same eight
//! bytes; `narrower` the lower four of them; `wider` eight bytes of which only four were just
//! stored; `halves` eight bytes written by two stores of four; `across_lines` the same eight bytes,
//! half of them on the next cache line.
//! ## Does not measure
//! A load that happens to depend on a store whose address is not known yet, vectors, and accesses
//! across pages.
//! ## Interpretation
//! A load is served from the store buffer before the store has reached the cache: four or five core
//! cycles, or none at all where the core renames memory as it does registers. Where the load needs
//! more than one store holds (`wider`, `halves`), most cores wait until the store is in the cache:
//! ten to twenty cycles. This is the cost of a structure that is written field by field and copied
//! as a whole. One cycle of every row is the addition.
//! ## Source
//! The optimisation manuals of processor vendors; not part of any published experiment. The value
//! at the end of the chain is its evidence.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Forward, forward};

use crate::witness::code;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Store-to-load forwarding latency",
    tags: "store forwarding, store buffer, store queue, memory renaming",
    ..Benchmark::of::<StoreForwarding>()
};

static ARRIVED: Witness = Witness::of("what an iteration ends with, its count aside", "kernel");

#[derive(Params, Clone)]
struct StoreForwarding {
    load: Forward,
}

impl Measured for StoreForwarding {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(StoreForwarding { load: Forward::ALL })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.load {
            Forward::Same => Profile::Quick,
            Forward::Narrower | Forward::Wider | Forward::Halves | Forward::AcrossLines => {
                Profile::Standard
            }
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let kernel = forward(self.load);
        let arrived = kernel.run(1).wrapping_sub(kernel.operations_per_iteration);
        plan.observe(&ARRIVED, format!("{arrived:#x}"));
        code::measure(plan, &kernel)
    }

    fn proofs(&self) -> StoreForwardingProofs<Proof> {
        StoreForwardingProofs {
            load: ARRIVED.expects(format!("{:#x}", self.load.arrives())),
        }
    }
}
