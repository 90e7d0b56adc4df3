//! How many procedure calls a system call costs.
//!
//! ## Measures
//! Nothing by itself: it is `syscall.null{call=getppid}` over `call.integer{arguments=0}`.
//! ## Does not measure
//! A useful system call, or a call that passes anything. First calls, of which a procedure's is as
//! dear as a system call (`call.first`, `syscall.cold`).
//! ## Interpretation
//! The first step of the ladder of call, system call and switch (`switch.over_syscall` is the
//! second). Both are many in a row, warm, and overlap with their neighbours: the call, of a few
//! cycles, by more. Mitigations of the processor's faults in speculation decide much of it: from
//! some 30 without any to several hundred. Published ratios near 1 come of a system call that the C
//! library answered from a cache.
//! ## Source
//! The conclusions of the call-and-switch, three-costs and switch-costs experiments.

use syscost_harness::prelude::*;

use super::null;
use crate::call::integer;
use crate::ratio;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Null system call over procedure call",
    tags: "ratio, syscall overhead, procedure call, mode switch",
    unit: Unit::Ratio,
    ..Benchmark::computed::<OverCall>()
};

const CALL: integer::CallInteger = integer::CallInteger { arguments: 0 };

#[derive(Params, Clone)]
struct OverCall;

impl Computed for OverCall {
    const FROM: &'static [&'static str] = &[id!(syscall::null), id!(call::integer)];

    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        vec![Case::only(OverCall)]
    }

    fn takes(&self, other: &syscost_harness::Row) -> bool {
        ratio::takes(&null::GETPPID, &CALL, other)
    }

    fn compute(&self, sources: &[Source<'_>], _: &Testbed) -> Result<ComputedValue, Failure> {
        // Entering the kernel and leaving it is one call of a procedure and more.
        ratio::compute(Self::FROM, &null::GETPPID, &CALL, 1.0, 2.0, sources)
    }
}
