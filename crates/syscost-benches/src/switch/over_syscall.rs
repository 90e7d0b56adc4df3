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

use super::ping_pong::Tasks;
use crate::ratio;
use crate::syscall::null;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Context switch over null system call",
    tags: "ratio, context switch, syscall overhead",
    unit: Unit::Ratio,
    ..Benchmark::computed::<OverSyscall>()
};

#[derive(Params, Clone)]
struct OverSyscall {
    between: Between,
}

impl OverSyscall {
    /// The round trip that it is computed from.
    fn round_trip(&self) -> Tasks {
        Tasks {
            between: self.between,
            cpus: Placement::SAME,
        }
    }
}

impl Computed for OverSyscall {
    const FROM: &'static [&'static str] = &[id!(switch::pipe), id!(syscall::null)];

    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(OverSyscall {
            between: Between::ALL
        })
    }

    fn takes(&self, other: &syscost_harness::Row) -> bool {
        ratio::takes(&self.round_trip(), &null::GETPPID, other)
    }

    fn compute(&self, sources: &[Source<'_>], _: &Testbed) -> Result<ComputedValue, Failure> {
        let of = self.round_trip();
        ratio::compute(Self::FROM, &of, &null::GETPPID, 0.5, 2.0, sources)
    }
}
