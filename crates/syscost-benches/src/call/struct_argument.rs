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
use syscost_sys::kernel::Call;

use super::{Passing, Structure};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Function call, structure by value",
    tags: "procedure call, call overhead, pass by value, calling convention",
    ..Benchmark::by::<Structure, Argument>()
};

struct Argument;

impl Passing for Argument {
    const CALLS: [Call; 2] = [Call::StructArgument16, Call::StructArgument64];
}
