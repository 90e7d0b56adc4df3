//! A conditional branch with a predictable or an unpredictable direction.
//!
//! ## Measures
//! `taken` and `not_taken`: branches that always go one way, one after the other. `alternating` and
//! `random`: a branch on the next bit of a table, with the shift that gets the bit and an addition
//! that the branch jumps over; the instructions and the number of jumps are the same for both, only
//! the order of the bits differs. The random table is created anew for every round and has two
//! million directions, more than any predictor remembers.
//! ## Does not measure
//! The cost of a misprediction: see `op.branch_miss`. Branches through registers: `op.indirect`.
//! ## Interpretation
//! A correctly predicted branch costs what the front end takes to pass it: half a cycle to two.
//! `random` is predicted correctly half of the time, so it includes half a misprediction per
//! branch.
//! ## Source
//! Not part of any published experiment; the checksum counts the branches that did not jump.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Branch, Directions, branch};

use crate::witness::code;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Conditional branch, predicted or not",
    tags: "branch prediction, branch predictor, jump",
    ..Benchmark::of::<OpBranch>()
};

/// Which way the branches go.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Taken,
    NotTaken,
    Alternating,
    Random,
}

#[derive(Params, Clone)]
struct OpBranch {
    direction: Direction,
}

impl Measured for OpBranch {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(OpBranch {
            direction: Direction::ALL
        })
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let seed = plan.random().u64(..);
        code::measure(plan, &branch(self.branch(seed)))
    }

    fn proofs(&self) -> OpBranchProofs<Proof> {
        let instructions = code::consists_of(self.branch(0).instructions());
        OpBranchProofs {
            direction: match self.direction {
                Direction::Taken | Direction::NotTaken => instructions,
                Direction::Alternating => instructions.and(code::alternates(true)),
                Direction::Random => instructions.and(code::alternates(false)),
            },
        }
    }
}

impl OpBranch {
    fn branch(&self, seed: u64) -> Branch {
        match self.direction {
            Direction::Taken => Branch::Taken,
            Direction::NotTaken => Branch::NotTaken,
            Direction::Alternating => Branch::OnBit(Directions::Alternating),
            Direction::Random => Branch::OnBit(Directions::Random(seed)),
        }
    }
}
