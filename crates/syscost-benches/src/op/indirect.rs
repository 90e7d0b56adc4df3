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
    support: |case| kind(case, 0).map(drop),
    run: |b| {
        let seed = b.random().u64(..);
        let kernel = branch(kind(b.case(), seed)?);
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
