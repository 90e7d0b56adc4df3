//! The call-and-switch experiment: calls of seven signatures, getpid and two threads with semaphores.

use syscost_harness::prelude::*;

use super::program::{self, PROCEDURE, procedure, program};

/// Number of results whose median is printed, for calls.
const RUNS: u64 = 21;

/// Round trips of two threads, those to warm up included, for each of which a thread is started.
const ROUND_TRIPS: u64 = 200 + 500;

pub(super) const FUNCTION_CALL: Benchmark = Benchmark {
    title: "Function call, as published",
    tags: "procedure call, function call overhead, calling convention",
    quantity: Quantity::Level,
    expect: &[exactly(Counter::OtherSyscalls, 0.0)],
    ..procedure::<FunctionCall>()
};

/// What the function takes and returns.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Signature {
    None,
    Int,
    IntInt,
    Double,
    IntX8,
    Struct,
    ReturnsStruct,
}

#[derive(Params, Clone)]
struct FunctionCall {
    signature: Signature,
}

impl Measured for FunctionCall {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(FunctionCall {
            signature: Signature::ALL
        })
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        FunctionCallProofs {
            signature: program::argument(0, self.signature.name()),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        program("call_and_switch/function_call", RUNS * 100_000)
            .argument(self.signature.name())
            .measure(plan)
    }
}

pub(super) const SYSTEM_CALL: Benchmark = Benchmark {
    title: "System call, as published",
    tags: "syscall, null system call, kernel entry",
    expect: &[calls(Sysno::GETPID), exactly(Counter::OtherSyscalls, 0.0)],
    measure: |plan| program("call_and_switch/system_call", RUNS * 500 * 32).measure(plan),
    ..PROCEDURE
};

pub(super) const THREAD_SWITCH: Benchmark = Benchmark {
    title: "Thread switch by semaphores, as published",
    tags: "context switch, semaphore, ping-pong",
    // How often a side sleeps, and not finds that the other has already answered, is a detail: what a
    // round trip is, the program claims.
    expect: &[exactly(
        Counter::Syscall(Sysno::EXIT),
        1.0 / ROUND_TRIPS as f64,
    )],
    measure: |plan| {
        let program = program("call_and_switch/thread_switch", 7 * ROUND_TRIPS);
        program.unpinned().measure(plan)
    },
    ..PROCEDURE
};
