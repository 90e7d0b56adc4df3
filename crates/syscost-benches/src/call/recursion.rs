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
use syscost_sys::kernel::{Call, Kernel, call};

use super::no_such_case;

macro_rules! depth {
    ($depth:literal, $from:literal) => {
        CaseSpec {
            params: &[("depth", $depth), ("from", $from)],
            expect: &[],
        }
    };
}

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "call.recursion",
    title: "Recursive function call, per level",
    tags: &[
        "procedure call",
        "recursion",
        "return stack buffer",
        "rsb",
        "return address stack",
        "return prediction",
    ],
    cases: Cases::List(&[
        depth!("8", "one_place"),
        depth!("16", "one_place"),
        depth!("64", "one_place"),
        depth!("256", "one_place"),
        depth!("8", "two_places"),
        depth!("16", "two_places"),
        depth!("32", "two_places"),
        depth!("64", "two_places"),
    ]),
    full: |case| case.get("from") != "one_place" || case.get("depth") == "256",
    support: |case| kernel(case, 0).map(drop),
    run: |b| {
        let seed = b.random().u64(..);
        let kernel = kernel(b.case(), seed)?;
        b.kernel(&kernel)
    },
    source: include_str!("recursion.rs"),
    ..Benchmark::DEFAULT
};

fn kernel(case: &Case, seed: u64) -> Result<Kernel, Unsupported> {
    let depth = case.number("depth");
    call(match case.get("from") {
        "one_place" => Call::Recursion(depth),
        "two_places" => Call::RecursionByChance { depth, seed },
        _ => return Err(no_such_case(case)),
    })
}
