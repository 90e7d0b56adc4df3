//! Claims that both tasks share a CPU, and lets one go elsewhere.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must be withheld: calls and switches are as claimed, but the partner is seen on another CPU.
//! ## Source
//! None: it is made up.

use rustix::io::Errno;
use syscost_harness::prelude::*;
use syscost_sys::cpu;
use syscost_sys::partner::Between;
use syscost_sys::topology::Relation;

use crate::switch::ping_pong::{Side, Wake, round_trips};
use crate::switch::pipe::Pipes;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Claims one CPU, uses two",
    expect: &[
        switches(2.0),
        together(Sysno::READ, 2.0),
        together(Sysno::WRITE, 2.0),
    ],
    measure,
    ..Benchmark::DEFAULT
};

/// A placement of the partner on a CPU other than the measuring task's.
pub(super) fn beside(b: &Bencher) -> Result<Placement, Unsupported> {
    Relation::ALL
        .into_iter()
        .filter(|relation| *relation != Relation::SameCpu)
        .map(Placement::At)
        .find(|placement| placement.cpus(b.cpu(), b.allowed()).is_ok())
        .ok_or(Unsupported::new("the lie needs two CPUs"))
}

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    let cpus = beside(&plan)?.cpus(plan.cpu(), plan.allowed())?;
    plan.measure(Together::of(Placement::SAME, |same| {
        let pipes = Pipes::open()?;
        let cpus = cpus.clone();
        round_trips(Between::Threads, same, Elsewhere { pipes, cpus })
    }))
}

/// Pipes whose partner moves to these CPUs.
struct Elsewhere {
    pipes: Pipes,
    cpus: Vec<u32>,
}

impl Wake for Elsewhere {
    type Error = Errno;

    fn begin(&self) -> Result<(), Failure> {
        Ok(cpu::pin_to(&self.cpus)?)
    }

    fn wake(&self, side: Side) -> Result<(), Errno> {
        self.pipes.wake(side)
    }

    fn sleep(&self, side: Side) -> Result<(), Errno> {
        self.pipes.sleep(side)
    }
}
