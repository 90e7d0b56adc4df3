//! A task of a program's that is made, waited for, or ends.
//!
//! ## Measures
//! One operation, timed individually, after `displaced` bytes of the user's own data were read; the other
//! task runs on the same CPU. `fork`: the call alone, of this program; `fork_30M`: the same with 30 MiB more,
//! all touched. `vfork`: until the child, which shares the memory, has exited. `vfork_exec`: until it has
//! executed a tiny program. `thread`: clone alone; `thread_join`: and the thread's exit, until it is known.
//! `wait`: wait4 for a child that has ended. `exit_100` and `exit_10000`: a stopped child that has touched so
//! many pages is killed and waited for.
//! ## Does not measure
//! What the other task runs.
//! ## Interpretation
//! Differences are prices, too: that of executing is `vfork_exec` without `vfork`, that of a page at the end
//! of a process follows from both exits.
//! ## Source
//! The weights of calls in bills of common programs.

use std::cell::Cell;

use rustix::param::page_size;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use syscost_harness::prelude::*;
use syscost_sys::process::Batch;

use super::displaced;
use crate::memory::page_fault::copy_on_write::Sleeper;
use crate::memory::space::area::Area;
use crate::task::child::{self, Child, Stack};
use crate::task::clone_thread;
use crate::task::command::Command;
use crate::task::marked::Marked;
use crate::task::until::detail_size;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "A task of a program",
    tags: "bill, cold cache, fork, vfork, exec, thread, exit, wait",
    expect: &[at_most(Counter::MinorFaults, 32.0)],
    ..Benchmark::of::<Task>()
};

/// What is done with the task.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Fork,
    #[value("fork_30M")]
    ForkLarge,
    Vfork,
    VforkExec,
    Thread,
    ThreadJoin,
    Wait,
    #[value("exit_100")]
    ExitSmall,
    #[value("exit_10000")]
    ExitLarge,
}

#[derive(Params, Clone)]
struct Task {
    kind: Kind,
    /// Bytes of other data that are read before each operation.
    displaced: Bytes,
}

static TOUCHED: Witness = Witness::of("pages touched for the task", "pagemap");

impl Kind {
    /// Pages that are touched for it: by this process, or by a child that is to end.
    fn pages(self) -> usize {
        match self {
            Kind::Fork
            | Kind::Vfork
            | Kind::VforkExec
            | Kind::Thread
            | Kind::ThreadJoin
            | Kind::Wait => 0,
            Kind::ForkLarge => (30 << 20) / page_size(),
            Kind::ExitSmall => 100,
            Kind::ExitLarge => 10_000,
        }
    }

    fn counts(self) -> Vec<Expect> {
        // What the other task calls at its end comes before the operation's end, or after it.
        let perhaps = |call| within(Counter::Syscall(call), 0.0, 1.1);
        let switches = |least, most| within(Counter::VoluntarySwitches, least, most);
        match self {
            Kind::Fork | Kind::ForkLarge => vec![
                calls(Sysno::CLONE3),
                perhaps(Sysno::EXIT_GROUP),
                switches(0.0, 0.1),
            ],
            Kind::Vfork => vec![
                calls(Sysno::CLONE),
                calls(Sysno::EXIT_GROUP),
                switches(0.75, 2.5),
            ],
            Kind::VforkExec => vec![
                calls(Sysno::CLONE),
                calls(Sysno::EXECVE),
                perhaps(Sysno::WRITE),
                perhaps(Sysno::EXIT_GROUP),
                switches(0.75, 2.5),
            ],
            Kind::Thread => vec![
                calls(Sysno::CLONE),
                perhaps(Sysno::EXIT),
                exactly(Counter::Syscall(Sysno::FUTEX), 0.0),
                switches(0.0, 0.1),
            ],
            Kind::ThreadJoin => vec![
                calls(Sysno::CLONE),
                calls(Sysno::EXIT),
                perhaps(Sysno::FUTEX),
                switches(0.0, 2.0),
            ],
            Kind::Wait => vec![calls(Sysno::WAIT4), switches(0.0, 0.1)],
            Kind::ExitSmall | Kind::ExitLarge => {
                vec![calls(Sysno::KILL), calls(Sysno::WAIT4), switches(0.75, 2.5)]
            }
        }
    }
}

impl Measured for Task {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Task {
            kind: Kind::ALL,
            displaced: displaced::SIZES
        })
    }

    fn proofs(&self) -> TaskProofs<Proof> {
        let counted = Proof::counted(self.kind.counts());
        TaskProofs {
            kind: counted.and(TOUCHED.expects(self.kind.pages())),
            displaced: displaced::proof(self.displaced),
        }
    }

    fn measure(self, mut plan: Plan) -> Result<Outcome, Failure> {
        detail_size(&mut plan);
        let Self { kind, displaced } = self;
        match kind {
            Kind::Fork | Kind::ForkLarge => fork(plan, displaced, kind.pages()),
            Kind::Vfork => vfork(plan, displaced, None),
            Kind::VforkExec => vfork(plan, displaced, Some(&Marked::new()?)),
            Kind::Thread => thread(plan, displaced, false),
            Kind::ThreadJoin => thread(plan, displaced, true),
            Kind::Wait => wait(plan, displaced),
            Kind::ExitSmall | Kind::ExitLarge => exit(plan, displaced, kind.pages()),
        }
    }
}

/// Waits for the last child, if there is one.
fn reap(child: &Cell<Option<Child>>) -> Result<(), Failure> {
    child.take().map_or(Ok(()), |child| child.ends_with(0))
}

fn fork(plan: Plan<'_>, displaced: Bytes, pages: usize) -> Result<Outcome<'_>, Failure> {
    let area = Area::reserve(pages * page_size(), Pages::Small)?;
    area.write(0..pages);
    // In the class for batch work new tasks do not preempt.
    let _policy = Batch::enter().map_err(Unsupported::from)?;
    let made = Cell::new(None);
    let fork = || {
        made.set(Some(child::clone3(0, || 0)?));
        Ok(())
    };
    let mut outcome = displaced::measure(plan, displaced, || reap(&made), fork)?;
    reap(&made)?;
    outcome.observe(&TOUCHED, area.look(0..area.pages())?.present);
    Ok(outcome)
}

fn vfork<'p>(
    plan: Plan<'p>,
    displaced: Bytes,
    marked: Option<&Marked>,
) -> Result<Outcome<'p>, Failure> {
    let program = marked.map(|marked| Command::plain(marked.path()));
    let (mut stack, made) = (Stack::new(), Cell::new(None));
    let end = || match (made.take(), marked) {
        (Some(child), marked) => {
            Child::ends_with(child, 0)?;
            marked.map_or(Ok(()), Marked::take)
        }
        (None, _) => Ok(()),
    };
    let vfork = || {
        made.set(Some(child::vfork(&mut stack, program.as_ref())?));
        Ok(())
    };
    let mut outcome = displaced::measure(plan, displaced, end, vfork)?;
    end()?;
    outcome.observe(&TOUCHED, 0_u64);
    Ok(outcome)
}

fn thread(plan: Plan<'_>, displaced: Bytes, is_joined: bool) -> Result<Outcome<'_>, Failure> {
    // In the class for batch work new tasks do not preempt.
    let _policy = Batch::enter().map_err(Unsupported::from)?;
    let mut stack = Stack::new();
    let join = || {
        clone_thread::join();
        Ok(())
    };
    let create = || {
        clone_thread::create(&mut stack)?;
        if is_joined {
            clone_thread::join();
        }
        Ok(())
    };
    let outcome = displaced::measure(plan, displaced, join, create);
    // Also if it failed: the thread uses the stack.
    clone_thread::join();
    let mut outcome = outcome?;
    outcome.observe(&TOUCHED, 0_u64);
    Ok(outcome)
}

/// A child that is there before an operation.
struct Held {
    child: Child,
    maker: u32,
}

impl Held {
    fn new(child: Child) -> Self {
        let maker = std::process::id();
        Self { child, maker }
    }
}

/// Ends what no operation has; an audited copy of this process leaves it alone.
fn clear(held: &Cell<Option<Held>>) {
    if let Some(Held { child, maker }) = held.take() {
        match maker == std::process::id() {
            true => drop(child),
            false => std::mem::forget(child),
        }
    }
}

fn wait(plan: Plan<'_>, displaced: Bytes) -> Result<Outcome<'_>, Failure> {
    let held = Cell::new(None);
    let prepare = || {
        clear(&held);
        let child = child::fork(|| 0)?;
        let id = Pid::from_raw(child.id()).ok_or_else(|| Failure::of("fork", "no id"))?;
        held.set(Some(Held::new(child)));
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(id), ended).tried("waitid").map(drop)
    };
    let wait = || match held.take() {
        Some(held) => held.child.ends_with(0),
        None => Err(Failure::of("wait", "there is no child")),
    };
    let mut outcome = displaced::measure(plan, displaced, prepare, wait)?;
    clear(&held);
    outcome.observe(&TOUCHED, 0_u64);
    Ok(outcome)
}

fn exit(plan: Plan<'_>, displaced: Bytes, pages: usize) -> Result<Outcome<'_>, Failure> {
    let area = Area::reserve(pages * page_size(), Pages::Small)?;
    let (held, touched) = (Cell::new(None), Cell::new(0));
    let prepare = || {
        clear(&held);
        let child = Sleeper::after(|| area.write(0..pages))?;
        touched.set(child.pages(area.page(0), pages)?);
        held.set(child.into_child().map(Held::new));
        Ok(())
    };
    let end = || {
        // Kills and waits.
        drop(held.take());
        Ok(())
    };
    let mut outcome = displaced::measure(plan, displaced, prepare, end)?;
    clear(&held);
    outcome.observe(&TOUCHED, touched.get());
    Ok(outcome)
}
