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
use syscost_sys::partner::Between;

use crate::ratio::{self, Named};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "switch.over_syscall",
    title: "Context switch over null system call",
    tags: &["ratio", "context switch", "syscall overhead"],
    unit: Unit::Ratio,
    derive: Some(Derive {
        from: &["switch.pipe", "syscall.null"],
        takes: |case, row| {
            let of = case.row::<Row>().map(Row::round_trip);
            of.is_ok_and(|of| ratio::takes(&of, &SYSCALL, row))
        },
        compute: |case, sources, _| {
            let of = case.row::<Row>()?.round_trip();
            ratio::compute(&of, &SYSCALL, 0.5, 2.0, sources)
        },
    }),
    source: include_str!("over_syscall.rs"),
    ..Benchmark::of::<Row>()
};

const SYSCALL: Named = ("syscall.null", &[("call", "getppid")]);

#[derive(Params)]
struct Row {
    between: Between,
}

impl Row {
    /// The round trip that it is computed from.
    fn round_trip(self) -> Named {
        match self.between {
            Between::Processes => ("switch.pipe", &[("between", "processes"), ("cpus", "same")]),
            Between::Threads => ("switch.pipe", &[("between", "threads"), ("cpus", "same")]),
        }
    }
}

impl Measured for Row {
    fn rows(_: &Here) -> Vec<Case> {
        rows!(Row {
            between: Between::ALL
        })
    }

    fn run(self, _: &mut Bencher) -> Result<(), Failure> {
        Err(Failure::Broken("is computed, not measured".to_owned()))
    }
}
