//! How many system calls a switch between two tasks costs.
//!
//! ## Measures
//! Nothing by itself: it is half of `switch.pipe{cpus=same}`, between processes or threads, over
//! `syscall.null{call=getppid}`. Half of that round trip is a write, a switch and a read.
//! ## Does not measure
//! The switch without its two system calls, which no subtraction gives; cold caches.
//! ## Interpretation
//! The second step of the ladder of call, system call and switch (`syscall.over_call` is the
//! first). At least 2, since it contains two system calls; the rest is the scheduler, the wake-up,
//! and between processes another address space.
//! ## Source
//! The conclusions of the call-and-switch, three-costs and switch-costs experiments.

use syscost_harness::prelude::*;

use crate::ratio::{self, Named};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "switch.over_syscall",
    title: "Context switch over null system call",
    tags: &["ratio", "context switch", "syscall overhead"],
    unit: Unit::Ratio,
    cases: Cases::Grid(&[("between", &["processes", "threads"])]),
    derive: Some(Derive {
        from: &["switch.pipe", "syscall.null"],
        takes: |case, row| of(case).is_ok_and(|of| ratio::takes(&of, &SYSCALL, row)),
        compute: |case, sources| ratio::compute(&of(case)?, &SYSCALL, 0.5, 2.0, sources),
    }),
    source: include_str!("over_syscall.rs"),
    ..Benchmark::DEFAULT
};

const SYSCALL: Named = ("syscall.null", &[("call", "getppid")]);

/// The round trip that a case is computed from.
fn of(case: &Case) -> Result<Named, Failure> {
    match case.get("between") {
        "processes" => Ok(("switch.pipe", &[("between", "processes"), ("cpus", "same")])),
        "threads" => Ok(("switch.pipe", &[("between", "threads"), ("cpus", "same")])),
        _ => Err(case.unknown("between")),
    }
}
