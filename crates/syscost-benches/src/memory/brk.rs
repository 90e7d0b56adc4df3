//! Growing the heap, using it, and shrinking it again.
//!
//! ## Measures
//! Two brk calls, up by `size` and down again, with a write to each new page in between.
//! ## Does not measure
//! brk alone, which is `syscall.brk`; malloc, which keeps freed memory (`memory.malloc`); huge
//! pages, which are switched off for this process.
//! ## Interpretation
//! Most of it is the page faults: compare the time per page with
//! `memory.page_fault{kind=anonymous_write,state=recycled}`, which creates no page tables.
//! ## Source
//! brk(2).
#![allow(unsafe_code)] // raw system calls

use rustix::param::page_size;
use syscost_harness::prelude::*;
use syscost_sys::memory::enough_for;
use syscost_sys::raw::syscall1;

use super::space::no_huge::NoHugePages;
use super::space::{ADDRESS, in_pages, whole_pages};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "brk: grow, touch, shrink",
    tags: "heap, sbrk, page fault, heap growth",
    revision: 2,
    expect: &[exactly(Counter::Syscall(Sysno::BRK), 2.0)],
    ..Benchmark::of::<MemoryBrk>()
};

#[derive(Params, Clone)]
struct MemoryBrk {
    /// Bytes by which the heap grows.
    size: Bytes,
}

impl Measured for MemoryBrk {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(MemoryBrk {
            size: [Bytes::kib(4), Bytes::mib(1)]
        })
    }

    fn proofs(&self) -> MemoryBrkProofs<Proof> {
        let pages = in_pages(self.size);
        MemoryBrkProofs {
            size: Proof::counted([within(Counter::MinorFaults, 0.99 * pages, 1.01 * pages)])
                // Up by this size, plus what is missing to a whole page; then down again.
                .and(Proof::argument(
                    Sysno::BRK,
                    ADDRESS,
                    ArgumentValue::Apart(self.size.0),
                )),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let (bytes, page) = (whole_pages(self.size)?, page_size());
        enough_for(bytes)?;
        let _small = NoHugePages::in_this_process();
        plan.measure(Loop::batches(1, |iterations| {
            // Read again for each batch, since the allocator may move the end between them. The C
            // library remembers it and makes no call. SAFETY: an increment of 0 moves nothing.
            let end = unsafe { libc::sbrk(0) };
            let first = end.addr().next_multiple_of(page);
            for _ in 0..iterations {
                // SAFETY: nothing allocates before the end is back where it was, so nothing uses the
                // pages above it.
                let up = unsafe { syscall1(Sysno::BRK, first + bytes) };
                if up != (first + bytes) as isize {
                    return Err(Failure::Failed(format!("brk up by {bytes} gave {up:#x}")));
                }
                for offset in (0..bytes).step_by(page) {
                    let place = end.with_addr(first + offset).cast::<u8>();
                    // SAFETY: below the new end.
                    unsafe { place.write_volatile(1) };
                }
                // SAFETY: nothing refers to the memory that is released.
                let down = unsafe { syscall1(Sysno::BRK, end.addr()) };
                if down != end.addr() as isize {
                    return Err(Failure::Failed(format!("brk down gave {down:#x}")));
                }
            }
            Ok(())
        }))
    }
}
