//! Checking whether a process may be signalled, without signalling it.
//!
//! ## Measures
//! kill with signal 0 to this process: looking it up by its id and checking permission. No signal is sent.
//! ## Does not measure
//! Sending or catching (`signal.catch`).
//! ## Interpretation
//! `signal.catch{via=kill}` minus this is the cost of a signal once its receiver is found.
//! ## Source
//! kill(2); libMicro's calls on the process itself.

use rustix::process::{getpid, test_kill_process};
use syscost_harness::prelude::*;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "kill with signal 0",
    tags: "null signal, permission check, process existence",
    expect: &[calls(Sysno::KILL)],
    measure,
    ..Benchmark::DEFAULT
};

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    let own = getpid();
    plan.measure(Loop::each(|| test_kill_process(own)))
}
