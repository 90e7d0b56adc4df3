//! Executes a program that does not exist, and calls it a success.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must fail: processes were made, ended well and had ids of their own, but the program's marker
//! was never left.
//! ## Source
//! None: it is made up.
//!
//! Except for the program's name and its child's status it is `task.exec`.

use syscost_harness::prelude::*;

use crate::task::child::fork;
use crate::task::command::Command;
use crate::task::ids::{DISTINCT, Ids};
use crate::task::marked::Marked;

pub(super) const BENCHMARK: Benchmark = Benchmark {
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
    measure,
    ..Benchmark::DEFAULT
};

fn measure(plan: Plan) -> Result<Outcome, Failure> {
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
