//! A call that returns a structure, small or large.
//!
//! ## Measures
//! 16 bytes: two registers. 64 bytes: the caller passes a hidden pointer to its own memory, the
//! callee stores all fields there, and the caller reads the last one back.
//! ## Does not measure
//! Copying the structure to its final place, which compilers mostly avoid.
//! ## Interpretation
//! The small one costs what a call costs. The large one adds the stores and one read of what was
//! just stored; calls that follow each other overlap most of that.
//! ## Source
//! The call-and-switch experiment's f() -> struct, the most expensive of its seven calls by a factor of 3.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Call, Kernel, call};

use super::no_such_case;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "call.struct_return",
    title: "Function call, structure returned",
    tags: &[
        "procedure call",
        "call overhead",
        "return by value",
        "calling convention",
    ],
    cases: Cases::Grid(&[("size", &["16", "64"])]),
    full: |case| case.get("size") != "64",
    support: |case| kernel(case).map(drop),
    run: |b| {
        let kernel = kernel(b.case())?;
        b.kernel(&kernel)
    },
    source: include_str!("struct_return.rs"),
    ..Benchmark::DEFAULT
};

fn kernel(case: &Case) -> Result<Kernel, Unsupported> {
    call(match case.get("size") {
        "16" => Call::StructReturn16,
        "64" => Call::StructReturn64,
        _ => return Err(no_such_case(case)),
    })
}
