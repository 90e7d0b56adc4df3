//! Claims one switch for eight yields.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must be withheld: a yield is an involuntary switch like a preemption by another program, but
//! no other program preempts as often.
//! ## Source
//! None: it is made up.
//!
//! Except for what it calls an operation it is `switch.yield`.

use syscost_harness::prelude::*;
use syscost_sys::partner::Between;

use crate::switch::r#yield::yielders;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Switches eight times, claims one",
    expect: &[
        within(Counter::Syscall(Sysno::SCHED_YIELD), 6.4, 10.4),
        switches(1.0),
    ],
    measure,
    ..Benchmark::DEFAULT
};

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    // An iteration of eight tasks has eight yields, and would be eight operations.
    plan.measure(Together::of(Placement::SAME, |cpus| {
        yielders(Between::Processes, cpus, 8)
    }))
}
