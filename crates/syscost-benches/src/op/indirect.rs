//! A branch through a register, to a target that the core guesses right, or cannot guess.
//!
//! ## Measures
//! `fixed`: the address of the next instruction is put into a register and jumped to. `table_same` and `table_random`: one of
//! sixteen targets by a table of bytes, with the address computed from it, an addition at the target and a direct jump back.
//! The instructions of these two are the same; the table names one target, or one by chance. It is made anew for every
//! round and has 262144 entries.
//! ## Does not measure
//! What one wrong guess costs: that is `op.branch_miss`. Indirect calls, which a return follows: `call.indirect`.
//! ## Reading it
//! What interpreters and jump tables pay. Where the kernel or the compiler replaces such jumps by other sequences against
//! speculation (retpolines), those cost about as much as `table_random` every time; these here are plain.
//! ## Source
//! Part of no published experiment here; the checksum adds up the numbers of the targets reached.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Branch, Targets, branch};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "op.indirect",
    title: "Indirect branch, predicted or not",
    tags: &[
        "indirect jump",
        "jump table",
        "branch prediction",
        "branch target prediction",
    ],
    cases: Cases::Grid(&[("target", &["fixed", "table_same", "table_random"])]),
    support: |case| branch(kind(case, 0)?).map(drop),
    run: |b| {
        let seed = b.random().u64(..);
        let kernel = branch(kind(b.case(), seed)?)?;
        b.kernel(&kernel)
    },
    source: include_str!("indirect.rs"),
    ..Benchmark::DEFAULT
};

fn kind(case: &Case, seed: u64) -> Result<Branch, Unsupported> {
    match case.get("target") {
        "fixed" => Ok(Branch::Indirect),
        "table_same" => Ok(Branch::IndirectByTable(Targets::Same)),
        "table_random" => Ok(Branch::IndirectByTable(Targets::Random(seed))),
        other => Err(Unsupported::new(format!("there is no target `{other}`"))),
    }
}
