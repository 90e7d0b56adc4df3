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
use syscost_sys::kernel::{self, Call, call};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Recursive function call, per level",
    tags: &[
        "procedure call",
        "recursion",
        "return stack buffer",
        "rsb",
        "return address stack",
        "return prediction",
    ],
    ..Benchmark::of::<Row>()
};

/// From how many places the procedure calls itself.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    OnePlace,
    TwoPlaces,
}

#[derive(Params, Clone)]
struct Row {
    /// How many levels the procedure goes down.
    depth: u64,
    from: Origin,
}

impl Measured for Row {
    fn rows(_: &Here) -> Vec<Case<Self>> {
        let one = rows!(Row {
            depth: [8, 16, 64, 256],
            from: [Origin::OnePlace]
        });
        let two = rows!(Row {
            depth: [8, 16, 32, 64],
            from: [Origin::TwoPlaces]
        });
        [one, two].concat()
    }

    fn profile(&self, _: &Here) -> Profile {
        match self.from {
            Origin::OnePlace if self.depth < 256 => Profile::Standard,
            Origin::OnePlace | Origin::TwoPlaces => Profile::Full,
        }
    }

    fn support(&self, _: &Here) -> Result<(), Unsupported> {
        self.kernel(0).map(drop)
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let seed = plan.random().u64(..);
        let kernel = self.kernel(seed)?;
        plan.measure(Kernel::of(&kernel))
    }
}

impl Row {
    fn kernel(&self, seed: u64) -> Result<kernel::Kernel, Unsupported> {
        let depth = self.depth;
        call(match self.from {
            Origin::OnePlace => Call::Recursion(depth),
            Origin::TwoPlaces => Call::RecursionByChance { depth, seed },
        })
    }
}
