//! Creating a process that shares its parent's memory and runs beside it.
//!
//! ## Measures
//! clone with CLONE_VM, CLONE_FS, CLONE_FILES and CLONE_SIGHAND, but without CLONE_THREAD or
//! CLONE_VFORK, by a lean process as for `task.fork`: the child is a process of its own, with a
//! stack of its own in the shared memory, and exits immediately. `until=created`: the call alone;
//! the child runs only afterwards. `until=reaped`: the child's exit and the parent's wait4 as well.
//! ## Does not measure
//! A thread, which belongs to its parent's process and is not waited for by wait4
//! (`task.clone_thread`). A stack to be mapped first (`task.pthread`).
//! ## Interpretation
//! What `task.fork` takes more is copying the memory's page tables, descriptors and handlers, and
//! the pages that parent and child write afterwards. It is what clone(2) in programs before 2003
//! meant by a thread (LinuxThreads), and so in many published measurements of "clone".
//! ## Source
//! clone(2); the clone row of the three-costs experiment.

use syscost_harness::prelude::*;
use syscost_sys::lean::{Script, ScriptCall};

use super::ids::DISTINCT;
use super::lean::{self, ASKED, Iteration, NO_FAULTS};
use super::until::{Creation, TaskCreation, Until};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Process creation: clone, memory shared",
    tags: "process spawn, clone_vm, thread spawn, linuxthreads",
    expect: &[
        calls(Sysno::CLONE),
        calls(Sysno::EXIT_GROUP),
        calls(Sysno::WAIT4),
        ASKED,
        exactly(Counter::Reported(DISTINCT), 1.0),
        // A copy of the memory would be written to, page by page.
        NO_FAULTS,
        at_most(Counter::VoluntarySwitches, 1.5),
    ],
    ..Benchmark::by::<TaskCreation, CloneVm>()
};

/// What a lean process does: makes a child in its own memory, and waits for it.
pub(super) fn iteration() -> Iteration {
    let shared = libc::CLONE_VM | libc::CLONE_FS | libc::CLONE_FILES | libc::CLONE_SIGHAND;
    let flags = shared | libc::SIGCHLD;
    Iteration::of(ScriptCall::new(
        Sysno::CLONE,
        [flags as u64, Script::CHILD_STACK],
    ))
}

struct CloneVm;

impl Creation for CloneVm {
    fn measure(until: Until, plan: Plan) -> Result<Outcome, Failure> {
        lean::measure(plan, iteration(), until)
    }

    fn proof(until: Until) -> Proof {
        lean::proof(until, false)
    }
}
