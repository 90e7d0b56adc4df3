//! A call to a procedure that is only known at run time.
//!
//! ## Measures
//! `pointer`: through a register. `plt`: to another library's procedure, by a stub that jumps
//! through a slot, as linkers make it, the slot being filled already. `virtual`: from the object to
//! its table of methods, to the method, which reads a field. `table`: through one of sixteen
//! pointers, by a table of bytes made anew for every round: always the same one
//! (`predicted`), or a random one (`unpredicted`); the instructions of these two are the same.
//! ## Does not measure
//! Resolving a symbol at its first call, and what a compiler loses because it cannot inline.
//! ## Interpretation
//! A correctly predicted target costs hardly more than a direct call
//! (`call.integer`). An unpredictable one costs a misprediction (`op.branch_miss`) 15 times in 16,
//! whatever the call goes through. The returns are predicted in every case.
//! ## Source
//! libMicro's calls of a local and of a library's procedure.

use syscost_harness::prelude::*;
use syscost_sys::kernel::{Call, Kernel, Targets, call};

use super::no_such_case;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "call.indirect",
    title: "Indirect function call",
    tags: &[
        "procedure call",
        "function pointer",
        "virtual function",
        "virtual call",
        "vtable",
        "plt",
        "dynamic linking",
        "shared library",
    ],
    cases: Cases::List(&[
        CaseSpec {
            params: &[("via", "pointer"), ("target", "predicted")],
            expect: &[],
        },
        CaseSpec {
            params: &[("via", "plt"), ("target", "predicted")],
            expect: &[],
        },
        CaseSpec {
            params: &[("via", "virtual"), ("target", "predicted")],
            expect: &[],
        },
        CaseSpec {
            params: &[("via", "table"), ("target", "predicted")],
            expect: &[],
        },
        CaseSpec {
            params: &[("via", "table"), ("target", "unpredicted")],
            expect: &[],
        },
    ]),
    quick: |case| case.get("via") == "virtual" && case.get("target") == "predicted",
    support: |case| kernel(case, 0).map(drop),
    run: |b| {
        let seed = b.random().u64(..);
        let kernel = kernel(b.case(), seed)?;
        b.kernel(&kernel)
    },
    source: include_str!("indirect.rs"),
    ..Benchmark::DEFAULT
};

fn kernel(case: &Case, seed: u64) -> Result<Kernel, Unsupported> {
    call(match (case.get("via"), case.get("target")) {
        ("pointer", "predicted") => Call::Pointer,
        ("plt", "predicted") => Call::LinkageStub,
        ("virtual", "predicted") => Call::Virtual,
        ("table", "predicted") => Call::PointerByTable(Targets::Same),
        ("table", "unpredicted") => Call::PointerByTable(Targets::Random(seed)),
        _ => return Err(no_such_case(case)),
    })
}
