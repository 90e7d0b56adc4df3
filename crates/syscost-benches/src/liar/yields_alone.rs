//! Claims to switch by yielding, without another task to yield to.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must be withheld: sched_yield is called as often as claimed, but the two switches, to a
//! partner and back, do not happen. Even if another program is switched to, only this task's own
//! switches are counted: one at most.
//! ## Source
//! None: it is made up, as many old measurements of switches were.

use rustix::thread::sched_yield;
use syscost_harness::prelude::*;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Claims to switch, yields to nobody",
    expect: &[switches(2.0), together(Sysno::SCHED_YIELD, 1.0)],
    measure,
    ..Benchmark::DEFAULT
};

fn measure(plan: Plan) -> Result<Outcome, Failure> {
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
