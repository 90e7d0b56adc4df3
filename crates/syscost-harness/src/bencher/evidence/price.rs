//! What a system call costs at least here: a row costs no less than the calls that it makes.

use std::hint::black_box;

use rustix::process::getppid;
use syscost_sys::clock::{Clock, Source};

use crate::bencher::Plan;
use crate::bencher::clocked::clocked;
use crate::bencher::core_probes::CoreProbes;
use crate::expect::{Counter, SYSCALL_FLOOR_CYCLES};
use crate::pass::Pass;

/// Number of calls that are timed together, and how often: some 20 us in all. No test fails with one trial.
const CALLS: u32 = 32;
const TRIALS: usize = 4;

/// The part of getppid's price that any other call costs, too, whatever ran before it. No test fails with a
/// quarter of it.
const SURE: f64 = 0.5;

impl Plan<'_> {
    /// In the evidence pass, finds what a call costs at least if the operation makes some, where the core's
    /// frequency is known.
    pub(in crate::bencher) fn try_a_call(&mut self) {
        let makes_calls = self
            .find(|counter| counter == Counter::TimedCalls)
            .is_some();
        let is_mock = self.given.clock.source() == Source::Mock;
        if !makes_calls || is_mock || self.given.pass != Pass::Evidence {
            return;
        }
        let clock = self.given.clock;
        let Some(core_probes) = &mut self.core_probes else {
            return;
        };
        let trials = (0..TRIALS).filter_map(|_| getppid_cycles(core_probes, clock));
        let sure = trials.reduce(f64::min).map(|cycles| SURE * cycles);
        self.done.call_cycles = sure.filter(|cycles| *cycles > SYSCALL_FLOOR_CYCLES);
    }
}

/// The cost of a getppid, in core cycles; `None` where it may be that of a shared core.
fn getppid_cycles(core_probes: &mut CoreProbes, clock: &Clock) -> Option<f64> {
    core_probes.take_seen();
    core_probes.probe_before();
    let call = || {
        for _ in 0..CALLS {
            black_box(getppid());
        }
        Ok(())
    };
    let ns = clocked(clock, call);
    core_probes.probe_after();
    let seen = core_probes.take_seen();
    let ghz = seen.ghz().filter(|_| seen.is_undisturbed());
    Some(ns.ok()? / f64::from(CALLS) * ghz?)
}

#[cfg(test)]
mod tests {
    use syscost_sys::cpu;
    use syscost_sys::raw::Sysno;

    use super::*;
    use crate::bencher::Loop;
    use crate::bencher::tests::real;
    use crate::case::Case;
    use crate::cores::Cores;
    use crate::expect::{Expect, exactly};

    /// What an operation of one getppid may cost at least, in core cycles, that says it makes some, where
    /// the core's frequency is known or not.
    fn floor(expect: Expect, knows_frequency: bool) -> f64 {
        let cpus = cpu::allowed().expect("some");
        let mut cores = Cores::with_limit(cpus[0], f64::INFINITY);
        cores.knows_frequency = knows_frequency;
        let (case, declared) = (Case::default(), [expect]);
        let findings = real::found_on(
            &cores,
            &case,
            &cpus[..1],
            Pass::Evidence,
            &declared,
            |plan| plan.measure(Loop::infallible(getppid)),
        );
        findings.expect("counted").cycle_floor.expect("it has one")
    }

    #[test]
    fn what_makes_calls_costs_what_they_cost_here() {
        let calls = |count| exactly(Counter::Syscall(Sysno::GETPPID), count);
        let [one, ten] = [1.0, 10.0].map(|count| floor(calls(count), true));
        assert!(one > SYSCALL_FLOOR_CYCLES, "half of any getppid: {one}");
        // Others may be there meanwhile.
        assert!(ten > 3.0 * one && ten < 30.0 * one, "{one} {ten}");
        // A frequency that is not known makes no cycles.
        assert_eq!(floor(calls(10.0), false), 10.0 * SYSCALL_FLOOR_CYCLES);
    }
}
