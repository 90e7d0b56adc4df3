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

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "op.branch",
    title: "Conditional branch, predicted or not",
    tags: &["branch prediction", "branch predictor", "jump"],
    cases: Cases::Grid(&[(
        "direction",
        &["taken", "not_taken", "alternating", "random"],
    )]),
    support: |case| kind(case, 0).map(drop),
    run: |b| {
        let seed = b.random().u64(..);
        let kernel = branch(kind(b.case(), seed)?);
        b.kernel(&kernel)
    },
    source: include_str!("branch.rs"),
    ..Benchmark::DEFAULT
};

fn kind(case: &Case, seed: u64) -> Result<Branch, Unsupported> {
    match case.get("direction") {
        "taken" => Ok(Branch::Taken),
        "not_taken" => Ok(Branch::NotTaken),
        "alternating" => Ok(Branch::OnBit(Directions::Alternating)),
        "random" => Ok(Branch::OnBit(Directions::Random(seed))),
        other => Err(Unsupported::new(format!("there is no direction `{other}`"))),
    }
}
