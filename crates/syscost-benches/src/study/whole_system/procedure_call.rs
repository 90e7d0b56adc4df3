//! Calls with up to seven arguments, as the whole-system experiment timed them.
//!
//! ## Measures
//! A loop of 1 000 000 calls of a function that does nothing, between CPUID and RDTSC before and RDTSCP and
//! CPUID after, per call; the mean of 10 such trials. Everything is a model of code compiled without
//! optimisation: the loop's counter is kept in memory, and the callee stores its arguments to its frame.
//! Whether the loop was subtracted is not published: here it is not.
//! ## Does not measure
//! The cost of a call in a program that is compiled with optimisation. The detail `empty_loop_ns`
//! is the time of a turn of the loop without a call, `loop_percent` its share, both from the
//! shortest trials.
//! ## Interpretation
//! Compare with `call.integer`. Each argument adds a store, and the seventh one is passed on the stack.
//! ## Source
//! The whole-system experiment, CPU (docs/studies/whole-system.md).

use syscost_harness::prelude::*;

use super::super::unoptimised::{WithCall, repeat, with_call};
use super::{MANY, TRIALS, Trials};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.whole_system.procedure_call",
    title: "Procedure call, as published",
    tags: &[
        "function call",
        "function call overhead",
        "argument passing",
    ],
    cases: Cases::Grid(&[("arguments", &["0", "1", "2", "3", "4", "5", "6", "7"])]),
    quantity: Quantity::Level,
    expect: &[exactly(Counter::OtherSyscalls, 0.0)],
    run,
    source: include_str!("procedure_call.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let arguments = b.case().number("arguments");
    let trials = Trials::new(b)?;
    with_call(arguments, Measure { b, trials })
        .unwrap_or_else(|| Err(Failure::Broken(format!("no callee takes {arguments}"))))
}

struct Measure<'b, 'c> {
    b: &'b mut Bencher<'c>,
    trials: Trials,
}

impl WithCall for Measure<'_, '_> {
    type Output = Result<(), Failure>;

    fn run(mut self, call: impl Fn()) -> Self::Output {
        self.b.as_published(TRIALS * MANY, || {
            self.trials.per_operation(MANY, || Ok(repeat(MANY, &call)))
        })?;
        self.trials.detail(self.b);
        let mut empty = self.trials.beside();
        empty.per_operation(MANY, || Ok(repeat(MANY, || ())))?;
        self.b.detail("empty_loop_ns", empty.min);
        let percent = 100.0 * empty.min / self.trials.min;
        self.b.detail("loop_percent", percent);
        Ok(())
    }
}
