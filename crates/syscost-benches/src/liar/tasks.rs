//! Lies about tasks and switches between them.

use std::convert::Infallible;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;
use rustix::thread::sched_yield;
use syscost_harness::prelude::*;
use syscost_sys::cpu;
use syscost_sys::topology::Relation;

use crate::switch::ping_pong::{Pair, Side, Wake, round_trips};
use crate::switch::pipe::Pipes;
use crate::switch::r#yield::yielders;
use crate::task::child::{clone3, fork};
use crate::task::command::Command;
use crate::task::ids::{DISTINCT, Ids};
use crate::task::marked::Marked;

pub(super) const SPINS: Benchmark = Benchmark {
    title: "Claims to switch, spins",
    expect: &[switches(2.0)],
    measure: spins,
    ..Benchmark::DEFAULT
};

fn spins(plan: Plan) -> Result<Outcome, Failure> {
    let placement = beside(&plan)?;
    let measured = plan.measure(Together::of(placement, |cpus| {
        let flags = Pair::make(|| Ok::<_, Failure>(AtomicBool::new(false)))?;
        round_trips(Between::Processes, cpus, Flags(Shared::new(flags)?))
    }));
    Ok(measured?.split().0)
}

/// The flags that each side polls until it is woken.
struct Flags(Shared<Pair<AtomicBool>>);

impl Wake for Flags {
    type Error = Infallible;

    fn wake(&self, side: Side) -> Result<(), Infallible> {
        self.0.of(side).store(true, Ordering::Release);
        Ok(())
    }

    fn sleep(&self, side: Side) -> Result<(), Infallible> {
        while !self.0.of(side).swap(false, Ordering::Acquire) {
            spin_loop();
        }
        Ok(())
    }
}

pub(super) const ELSEWHERE: Benchmark = Benchmark {
    title: "Claims one CPU, uses two",
    expect: &[
        switches(2.0),
        together(Sysno::READ, 2.0),
        together(Sysno::WRITE, 2.0),
    ],
    measure: elsewhere,
    ..Benchmark::DEFAULT
};

/// A placement of the partner on a CPU other than the measuring task's.
fn beside(b: &Bencher) -> Result<Placement, Unsupported> {
    Relation::ALL
        .into_iter()
        .filter(|relation| *relation != Relation::SameCpu)
        .map(Placement::At)
        .find(|placement| placement.cpus(b.cpu(), b.allowed()).is_ok())
        .ok_or(Unsupported::new("the lie needs two CPUs"))
}

fn elsewhere(plan: Plan) -> Result<Outcome, Failure> {
    let cpus = beside(&plan)?.cpus(plan.cpu(), plan.allowed())?;
    let measured = plan.measure(Together::of(Placement::SAME, |same| {
        let pipes = Pipes::open()?;
        let cpus = cpus.clone();
        round_trips(Between::Threads, same, Elsewhere { pipes, cpus })
    }));
    Ok(measured?.split().0)
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

pub(super) const YIELDS_ALONE: Benchmark = Benchmark {
    title: "Claims to switch, yields to nobody",
    expect: &[switches(2.0), together(Sysno::SCHED_YIELD, 1.0)],
    measure: yields_alone,
    ..Benchmark::DEFAULT
};

fn yields_alone(plan: Plan) -> Result<Outcome, Failure> {
    let alone = Together::of(Placement::SAME, |_| {
        let iterations = |iterations| {
            for _ in 0..iterations {
                sched_yield();
            }
            Ok(())
        };
        Ok(Team::new(Vec::new(), iterations).map(drop))
    });
    plan.measure(alone)
}

pub(super) const YIELDS_OFTEN: Benchmark = Benchmark {
    title: "Switches eight times, claims one",
    expect: &[
        within(Counter::Syscall(Sysno::SCHED_YIELD), 6.4, 10.4),
        switches(1.0),
    ],
    measure: yields_often,
    ..Benchmark::DEFAULT
};

fn yields_often(plan: Plan) -> Result<Outcome, Failure> {
    // An iteration of eight tasks has eight yields, and would be eight operations.
    plan.measure(Together::of(Placement::SAME, |cpus| {
        yielders(Between::Processes, cpus, 8)
    }))
}

pub(super) const FORK_FAILS: Benchmark = Benchmark {
    title: "Forks without a child",
    expect: &[
        calls(Sysno::CLONE3),
        exactly(Counter::Reported(DISTINCT), 1.0),
        calls(Sysno::EXIT_GROUP),
        calls(Sysno::WAIT4),
        at_most(Counter::MinorFaults, 16.0),
        at_most(Counter::VoluntarySwitches, 1.5),
    ],
    measure: fork_fails,
    ..Benchmark::DEFAULT
};

fn fork_fails(plan: Plan) -> Result<Outcome, Failure> {
    let mut ids = Ids::default();
    let mut outcome = plan.measure(Loop::each(|| {
        // Threads must share their handlers' memory; every kernel refuses a thread that does not.
        let child = clone3(libc::CLONE_THREAD as u64, || 0)?;
        ids.note(child.id());
        child.ends_with(0)
    }))?;
    outcome.report(DISTINCT, ids.distinct());
    Ok(outcome)
}

pub(super) const EXEC_MISSING: Benchmark = Benchmark {
    title: "Executes a missing program",
    expect: &[
        calls(Sysno::CLONE),
        calls(Sysno::EXECVE),
        calls(Sysno::EXIT_GROUP),
        calls(Sysno::WAIT4),
        exactly(Counter::Reported(DISTINCT), 1.0),
        at_most(Counter::OtherSyscalls, 4.0),
        at_most(Counter::MinorFaults, 16.0),
        at_most(Counter::VoluntarySwitches, 2.5),
    ],
    measure: exec_missing,
    ..Benchmark::DEFAULT
};

fn exec_missing(plan: Plan) -> Result<Outcome, Failure> {
    let (marked, mut ids) = (Marked::new()?, Ids::default());
    let command = Command::plain(c"/no/such/program");
    let mut outcome = plan.measure(Loop::each(|| {
        let child = fork(|| {
            command.execute();
            0
        })?;
        ids.note(child.id());
        child.ends_with(0)?;
        marked.take()
    }))?;
    outcome.report(DISTINCT, ids.distinct());
    Ok(outcome)
}
