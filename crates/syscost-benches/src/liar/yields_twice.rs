//! Claims one switch for two yields.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Reading it
//! It must be withheld: a yield is an involuntary switch like a preemption by another program, but no other program preempts as often.
//! ## Source
//! None: it is made up.
//!
//! Apart from what it calls an operation it is `switch.yield`.

use syscost_harness::prelude::*;
use syscost_sys::partner::Between;
use syscost_sys::topology::Relation;

use crate::switch::r#yield::yielders;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "liar.yields_twice",
    title: "Switches twice, claims to do it once",
    expect: &[
        within(Counter::Syscall(Sysno::SCHED_YIELD), 1.6, 2.6),
        switches(1.0),
    ],
    run,
    source: include_str!("yields_twice.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    // A turn of two tasks is two yields, and would be two operations.
    b.together(Placement::At(Relation::SameCpu), |cpus| {
        yielders(Between::Processes, cpus, 2)
    })
}
