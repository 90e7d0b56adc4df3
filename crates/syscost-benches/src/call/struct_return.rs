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

use super::Size;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "call.struct_return",
    title: "Function call, structure returned",
    tags: &[
        "procedure call",
        "call overhead",
        "return by value",
        "calling convention",
    ],
    source: include_str!("struct_return.rs"),
    ..Benchmark::of::<Row>()
};

#[derive(Params, Clone)]
struct Row {
    size: Size,
}

impl Measured for Row {
    fn rows(_: &Here) -> Vec<Case<Self>> {
        rows!(Row { size: Size::ALL })
    }

    fn profile(&self, _: &Here) -> Profile {
        match self.size {
            Size::Small => Profile::Full,
            Size::Large => Profile::Standard,
        }
    }

    fn support(&self, _: &Here) -> Result<(), Unsupported> {
        kernel(self.size).map(drop)
    }

    fn run(self, b: &mut Bencher) -> Result<(), Failure> {
        b.kernel(&kernel(self.size)?)
    }
}

fn kernel(size: Size) -> Result<Kernel, Unsupported> {
    call(match size {
        Size::Small => Call::StructReturn16,
        Size::Large => Call::StructReturn64,
    })
}
