//! A call with a structure by value, small or large, and its return.
//!
//! ## Measures
//! 16 bytes: loaded into two registers. 64 bytes: copied to memory for the callee, on x86-64 to the
//! stack. The callee adds two fields and returns the sum, which the caller adds up.
//! ## Does not measure
//! Passing a pointer to the structure, which costs what an integer argument costs (`call.integer`).
//! ## Interpretation
//! The small one costs what a call costs. The large one waits for the copy: the callee reads what
//! was just stored, each time about 5 core cycles of store forwarding, part of which overlaps the
//! call.
//! ## Source
//! The call-and-switch experiment's f(struct); the size of its structure was not published.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Call, Kernel, call};

use super::no_such_case;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "call.struct_argument",
    title: "Function call, structure by value",
    tags: &[
        "procedure call",
        "call overhead",
        "pass by value",
        "calling convention",
    ],
    cases: Cases::Grid(&[("size", &["16", "64"])]),
    full: |case| case.get("size") != "64",
    support: |case| kernel(case).map(drop),
    run: |b| {
        let kernel = kernel(b.case())?;
        b.kernel(&kernel)
    },
    source: include_str!("struct_argument.rs"),
    ..Benchmark::DEFAULT
};

fn kernel(case: &Case) -> Result<Kernel, Unsupported> {
    call(match case.get("size") {
        "16" => Call::StructArgument16,
        "64" => Call::StructArgument64,
        _ => return Err(no_such_case(case)),
    })
}
