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
use syscost_sys::kernel::Call;

use super::{Passing, Structure};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Function call, structure returned",
    tags: "procedure call, call overhead, return by value, calling convention",
    ..Benchmark::by::<Structure, Return>()
};

struct Return;

impl Passing for Return {
    const CALLS: [Call; 2] = [Call::StructReturn16, Call::StructReturn64];
}
