//! Querying the end of the heap, and moving it.
//!
//! ## Measures
//! `query`: one brk call that moves nothing. `page`: two calls, one page up and the same page down
//! again. The page is never touched, so no memory is allocated.
//! ## Does not measure
//! Page faults on the new memory (`memory.page_fault`), or malloc above it.
//! ## Interpretation
//! `page` includes changing the address space: its lock, its tree of mappings, and giving a page back.
//! ## Source
//! brk(2).
#![allow(unsafe_code)] // raw system calls

use syscost_harness::prelude::*;
use syscost_sys::raw::syscall1;

use super::must;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "brk: query, grow and shrink",
    tags: "sbrk, heap, program break",
    ..Benchmark::of::<SyscallBrk>()
};

/// What the calls do with the end of the heap.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Query,
    Page,
}

#[derive(Params, Clone)]
struct SyscallBrk {
    op: Op,
}

impl Measured for SyscallBrk {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(SyscallBrk { op: Op::ALL })
    }

    fn proofs(&self) -> SyscallBrkProofs<Proof> {
        let count = match self.op {
            Op::Query => 1.0,
            Op::Page => 2.0,
        };
        SyscallBrkProofs {
            op: Proof::counted([exactly(Counter::Syscall(Sysno::BRK), count)]),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        if self.op == Op::Query {
            // SAFETY: 0 is not a possible end, so nothing moves.
            return plan.measure(Loop::each(|| must(unsafe { syscall1(Sysno::BRK, 0) } > 0)));
        }
        let page = rustix::param::page_size();
        plan.measure(Loop::batches(1, |n| {
        // Queried anew for each batch, since the allocator may move the end between them. The C
        // library remembers it and makes no call. SAFETY: an increment of 0 moves nothing.
        let end = unsafe { libc::sbrk(0) }.addr();
        for _ in 0..n {
            // SAFETY: nothing allocates between the two, so the page above the end is not in use.
            let answers = unsafe { [syscall1(Sysno::BRK, end + page), syscall1(Sysno::BRK, end)] };
            if answers != [(end + page) as isize, end as isize] {
                return Err(Failure::Failed(format!(
                    "moving the end of the heap at {end:#x} by {page} and back gave {answers:x?}"
                )));
            }
        }
        Ok(())
    }))
    }
}
