//! A branch through a register, to a predictable or an unpredictable target.
//!
//! ## Measures
//! `fixed`: the address of the next instruction is put into a register and jumped to. `table_same`
//! and `table_random`: one of sixteen targets by a table of bytes, with the address computed from
//! it, an addition at the target and a direct jump back. The instructions of these two are the
//! same; the table names the same target everywhere, or random ones. It is created anew for every
//! round and has 262144 entries.
//! ## Does not measure
//! The cost of a misprediction: see `op.branch_miss`. Indirect calls, which a return follows:
//! `call.indirect`.
//! ## Interpretation
//! The cost to interpreters and jump tables. Where the kernel or the compiler replaces such jumps
//! with other sequences against speculation (retpolines), those cost about as much as
//! `table_random` every time; the jumps here are plain.
//! ## Source
//! Not part of any published experiment; the checksum adds up the numbers of the targets reached.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Branch, Targets, branch};

use crate::witness::code;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Indirect branch, predicted or not",
    tags: "indirect jump, jump table, branch prediction, branch target prediction",
    ..Benchmark::of::<OpIndirect>()
};

/// Where the branches go.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Fixed,
    TableSame,
    TableRandom,
}

#[derive(Params, Clone)]
struct OpIndirect {
    target: Target,
}

impl Measured for OpIndirect {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(OpIndirect {
            target: Target::ALL
        })
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        let seed = plan.random().u64(..);
        code::measure(plan, &branch(self.branch(seed)))
    }

    fn proofs(&self) -> OpIndirectProofs<Proof> {
        let instructions = code::consists_of(self.branch(0).instructions());
        OpIndirectProofs {
            target: instructions.and(code::leads_elsewhere(self.target == Target::TableRandom)),
        }
    }
}

impl OpIndirect {
    fn branch(&self, seed: u64) -> Branch {
        match self.target {
            Target::Fixed => Branch::Indirect,
            Target::TableSame => Branch::IndirectByTable(Targets::Same),
            Target::TableRandom => Branch::IndirectByTable(Targets::Random(seed)),
        }
    }
}
