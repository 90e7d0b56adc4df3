//! Two tasks that wake each other through pipes.
//!
//! ## Measures
//! A round trip: the measuring task writes a byte into one pipe and reads from another; its
//! partner, asleep in a read of the first, wakes, reads and writes one back. Two switches, two
//! writes and two reads, on the CPUs that the row names. The detail `switch_ns` is half of it: one
//! write, one switch, one read.
//! ## Does not measure
//! The switch without the pipe, which no subtraction of a separately timed pipe gives; cold caches
//! and large working sets (`switch.ring`).
//! ## Interpretation
//! On the `same` CPU the kernel switches from one task to the other. On two CPUs both are idle half
//! of the time: the number is dominated by waking the other CPU, in a virtual machine through its
//! hypervisor, and may be ten times larger or more. `free` is what a program gets that does not pin
//! itself; the details `placed_..._percent` show where the tasks were found. Between threads the
//! address space stays the same, between processes it changes too. Tools that quote one switch
//! divide by two.
//! ## Source
//! lmbench `lat_ctx`; `perf bench sched pipe`; the call-and-switch, three-costs, whole-system,
//! switch-costs and clock-read-switch experiments.

use std::os::fd::OwnedFd;

use rustix::io::{Errno, read, retry_on_intr, write};
use rustix::pipe::{PipeFlags, pipe_with};
use syscost_harness::prelude::*;
use syscost_sys::topology::Relation;

use super::ping_pong::{self, Mechanism, Pair, Side, Tasks, Wake};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Context switch: pipe ping-pong, round trip",
    tags: "context switch latency, wakeup latency, task switch, time per switch, process switch, \
        thread switch, lat_ctx, lat_pipe, perf bench sched pipe",
    revision: 3,
    expect: &[
        switches(2.0),
        together(Sysno::READ, 2.0),
        together(Sysno::WRITE, 2.0),
    ],
    roles: roles!(
        Tasks { between: Between::Processes, cpus: Placement::SAME } => Role::PingPong,
        Tasks {
            between: Between::Processes,
            cpus: Placement::At(Relation::SameLastLevelCache),
        } => Role::PingPongAcross,
    ),
    ..Benchmark::by::<Tasks, Pipes>()
};

impl Mechanism for Pipes {
    fn profile(tasks: Tasks) -> Profile {
        match tasks.between {
            Between::Processes if tasks.cpus != Placement::Free => Profile::Quick,
            Between::Processes | Between::Threads => tasks.usual_profile(),
        }
    }

    fn measure(tasks: Tasks, plan: Plan) -> Result<Outcome, Failure> {
        ping_pong::measure(plan, tasks, |_| Pipes::open())
    }
}

/// The read and the write end of the pipe that each side sleeps on.
pub(crate) struct Pipes(Pair<(OwnedFd, OwnedFd)>);

impl Pipes {
    pub(crate) fn open() -> Result<Self, Failure> {
        let pipe = || pipe_with(PipeFlags::CLOEXEC);
        Pair::make(pipe).map(Self).tried("make a pipe")
    }
}

impl Wake for Pipes {
    type Error = Errno;

    fn wake(&self, side: Side) -> Result<(), Errno> {
        write(&self.0.of(side).1, b".").map(drop)
    }

    fn sleep(&self, side: Side) -> Result<(), Errno> {
        match retry_on_intr(|| read(&self.0.of(side).0, &mut [0_u8]))? {
            1 => Ok(()),
            _ => Err(Errno::PIPE),
        }
    }
}
