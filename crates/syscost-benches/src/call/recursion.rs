//! A procedure that calls itself, per level.
//!
//! ## Measures
//! One level down and up again: a comparison that ends the recursion, the call, a stack slot, an
//! addition to the result, the return. `from=one_place`: the procedure calls itself from one place,
//! so that all returns but the last lead to the same address. `from=two_places`: from one of two
//! places, chosen at each level by a random bit.
//! ## Does not measure
//! Stack that is touched for the first time: the stack is warm and small.
//! ## Interpretation
//! A core remembers the last 16 to 32 return addresses, or more. Deeper recursion returns to
//! addresses that have been forgotten. From one place the core may still predict them; from two
//! places it mispredicts half of them, so depth 64 costs more per level than depth 8. In
//! `two_places` half a misprediction of the choice itself is included at every depth
//! (`op.branch_miss`): compare depths with each other, not with `one_place`.
//! ## Source
//! The return stack of branch predictors; not part of any published experiment here. The checksum
//! counts the levels.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Call, call};

use crate::witness::code;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Recursive function call, per level",
    tags: "procedure call, recursion, return stack buffer, rsb, return address stack, \
        return prediction",
    ..Benchmark::of::<CallRecursion>()
};

static LEVELS: Witness = Witness::of("levels that a call goes down", "what it returns");

/// Outermost calls in an iteration of the kernel.
const CALLS: u64 = 16;

/// From how many places the procedure calls itself.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    OnePlace,
    TwoPlaces,
}

#[derive(Params, Clone)]
struct CallRecursion {
    /// How many levels the procedure goes down.
    depth: u64,
    from: Origin,
}

impl Measured for CallRecursion {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        let one = rows!(CallRecursion {
            depth: [8, 16, 64, 256],
            from: [Origin::OnePlace]
        });
        let two = rows!(CallRecursion {
            depth: [8, 16, 32, 64],
            from: [Origin::TwoPlaces]
        });
        [one, two].concat()
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.from {
            Origin::OnePlace if self.depth < 256 => Profile::Standard,
            Origin::OnePlace | Origin::TwoPlaces => Profile::Full,
        }
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        call(self.call(0)).map(drop)
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let seed = plan.random().u64(..);
        let kernel = call(self.call(seed))?;
        // Each level adds one to what the outermost call returns.
        plan.observe(&LEVELS, kernel.run(1) / CALLS);
        code::measure(plan, &kernel)
    }

    fn proofs(&self) -> CallRecursionProofs<Proof> {
        CallRecursionProofs {
            depth: LEVELS.expects(self.depth),
            from: code::consists_of(self.call(0).instructions()),
        }
    }
}

impl CallRecursion {
    fn call(&self, seed: u64) -> Call {
        let depth = self.depth;
        match self.from {
            Origin::OnePlace => Call::Recursion(depth),
            Origin::TwoPlaces => Call::RecursionByChance { depth, seed },
        }
    }
}
