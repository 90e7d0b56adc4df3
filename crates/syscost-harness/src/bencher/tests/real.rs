//! A bencher on the system's clock, for what tasks really do.

use syscost_sys::clock::Clock;
use syscost_sys::cpu;

use crate::bencher::{ClockCost, Effort, Findings, Outcome, Pass, Plan, Situation};
use crate::case::Case;
use crate::expect::Expect;
use crate::failure::Failure;
use crate::here::Here;

const EFFORT: Effort = Effort {
    samples: 10,
    warm_up_ns: 1e5,
    batch_ns: 1e4,
    case_ns: 1e6,
    patience_ns: 0.0,
    singles: 200,
    second_witness: false,
};

/// What a measurement on the first of these CPUs finds of a case, in a separate thread,
/// which is pinned as a worker is.
pub(in crate::bencher) fn found_of(
    case: &Case,
    cpus: &[u32],
    pass: Pass,
    declared: &[Expect],
    measure: impl FnOnce(Plan) -> Result<Outcome, Failure> + Send,
) -> Result<Findings, Failure> {
    let found = || {
        cpu::pin(cpus[0]).expect("the CPU is allowed");
        let clock = Clock::system();
        let here = Here {
            allowed: cpus.to_vec(),
            ..Here::plain()
        };
        let situation = Situation {
            case,
            instead: None,
            pass,
            effort: &EFFORT,
            clock: &clock,
            clock_cost: ClockCost {
                step_ns: 1.0,
                read_ns: 40.0,
            },
            iterations: None,
            cpu: cpus[0],
            here: &here,
            cores: &crate::cores::UNKNOWN,
            seed: 1,
        };
        measure(Plan::new(declared, situation))?.finish()
    };
    std::thread::scope(|scope| scope.spawn(found).join().expect("no panic"))
}
