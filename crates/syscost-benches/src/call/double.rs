//! A call with 1 or 8 floating-point arguments, and its return.
//!
//! ## Measures
//! Loading 64-bit floating-point numbers from the first-level cache into the registers that the
//! calling convention names, the call, a procedure that doubles its argument (or returns the
//! eighth), the return, and adding up the results.
//! ## Does not measure
//! Arguments past the registers, saving registers, and cold code (`call.first`).
//! ## Interpretation
//! Compare with `call.integer`: the convention costs the same, the loads are hidden by the branches
//! or limited by how many the core does in a cycle.
//! ## Source
//! The call-and-switch experiment's f(double).

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Call, Kernel, call};

use super::no_such_case;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "call.double",
    title: "Function call, floating-point arguments",
    tags: &["procedure call", "call overhead", "calling convention"],
    cases: Cases::Grid(&[("arguments", &["1", "8"])]),
    full: |case| case.get("arguments") != "8",
    support: |case| kernel(case).map(drop),
    run: |b| {
        let kernel = kernel(b.case())?;
        b.kernel(&kernel)
    },
    source: include_str!("double.rs"),
    ..Benchmark::DEFAULT
};

fn kernel(case: &Case) -> Result<Kernel, Unsupported> {
    call(match case.get("arguments") {
        "1" => Call::Double,
        "8" => Call::EightDoubles,
        _ => return Err(no_such_case(case)),
    })
}
