//! Calls of 0 to 5 arguments, as the three-costs experiment timed them.
//!
//! ## Measures
//! A pair of `rdtsc` around each single call, less the mean of pairs with nothing between them, 10 000
//! times; the mean, and of three such runs the mean. The text compiles without optimisation: the callees
//! store their arguments to their frame, and the loop's counter is in memory. What they do is not
//! published: here nothing else. The text announces up to six arguments; its tables end with five.
//! ## Does not measure
//! A call: it takes a few cycles, and the core overlaps them with the pair of readings, which itself
//! varies by more (`empty_pair_p90_less_p10_ns`). The remainder may be anything, zero or less included
//! (`zero_or_less_percent` of single calls).
//! ## Interpretation
//! Compare with `call.integer`, which times many calls together. The detail `typical_pair_less_empty_ns` is
//! by how much a typical pair with a call is longer than one without: where it is zero, the call
//! disappeared in the pair.
//! ## Source
//! The three-costs experiment, section 3.2 (docs/studies/three-costs.md).

use syscost_harness::prelude::*;

use super::super::unoptimised::{WithCall, with_call};
use super::{measure, support};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.three_costs.procedure_call",
    title: "Procedure call, as published",
    tags: &[
        "function call",
        "function call overhead",
        "argument passing",
    ],
    cases: Cases::Grid(&[("arguments", &["0", "1", "2", "3", "4", "5"])]),
    quantity: Quantity::Level,
    expect: &[exactly(Counter::OtherSyscalls, 0.0)],
    support,
    run,
    source: include_str!("procedure_call.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let arguments = b.case().number("arguments");
    with_call(arguments, Measure(b)).unwrap_or_else(|| {
        let defect = format!("asks for a callee with {arguments} arguments");
        Err(Failure::Broken(defect))
    })
}

/// Measures a call. Each loop is compiled for its own callee, as in a program that names it.
struct Measure<'b, 'r>(&'b mut Bencher<'r>);

impl WithCall for Measure<'_, '_> {
    type Output = Result<(), Failure>;

    fn run(self, call: impl Fn()) -> Result<(), Failure> {
        let one = || {
            call();
            Ok(())
        };
        measure(self.0, || (), one)
    }
}
