//! Twenty small operations, or more: a slowdown of known size, to see whether a comparison finds it.
//!
//! ## Measures
//! Twenty operations, plus the percentage that the environment variable `SYSCOST_TEST_SLOWDOWN`
//! gives (as in `SYSCOST_TEST_SLOWDOWN=5`), rounded to a whole number.
//! ## Does not measure
//! Anything about this machine.
//! ## Interpretation
//! Two runs, one with the variable and one without, or
//! `syscost ab selftest.slowdown --b-wrapper 'env SYSCOST_TEST_SLOWDOWN=5'`, must differ by that much.
//! ## Source
//! The power of a test: how often an existing difference is found.

#![allow(unsafe_code)] // raw system calls

use std::fs::File;

use rustix::fs::fstat;
use syscost_harness::prelude::*;
use syscost_sys::raw::syscall0;

/// The variable with the slowdown, in percent.
const VARIABLE: &str = "SYSCOST_TEST_SLOWDOWN";

/// Operations without a slowdown: one more is five percent.
const OPERATIONS: f64 = 20.0;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Twenty operations, or more",
    ..Benchmark::of::<Slowdown>()
};

/// The operation that is slowed down.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Getppid,
    Fstat,
}

#[derive(Params, Clone)]
struct Slowdown {
    of: Of,
}

impl Measured for Slowdown {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Slowdown { of: Of::ALL })
    }

    fn proofs(&self) -> Self::Proofs<Proof> {
        let call = match self.of {
            Of::Getppid => Sysno::GETPPID,
            Of::Fstat => Sysno::FSTAT,
        };
        SlowdownProofs {
            of: Proof::counted([at_least(
                Counter::Syscall(call),
                OPERATIONS,
                "as many more as the environment asks for",
            )]),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let operations = operations()?;
        match self.of {
            Of::Getppid => plan.measure(Loop::infallible(|| {
                for _ in 0..operations {
                    // SAFETY: the call takes nothing and touches no memory.
                    std::hint::black_box(unsafe { syscall0(Sysno::GETPPID) });
                }
            })),
            Of::Fstat => {
                let file = File::open("/dev/null").tried("opening /dev/null")?;
                let fstats = || (0..operations).try_for_each(|_| fstat(&file).map(drop));
                plan.measure(Loop::each(fstats))
            }
        }
    }
}

/// The number of operations, with the slowdown.
fn operations() -> Result<usize, Failure> {
    let percent = match std::env::var(VARIABLE) {
        Ok(text) => text
            .parse::<f64>()
            .map_err(|cause| Failure::of(&format!("reading {VARIABLE}={text}"), cause))?,
        Err(_) => 0.0,
    };
    Ok((OPERATIONS * (1.0 + percent / 100.0)).round() as usize)
}
