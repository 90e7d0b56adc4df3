//! An assembly kernel whose checksum does not fit the operations it claims.
//!
//! ## Measures
//! Whether the harness believes it.
//! ## Does not measure
//! What it claims.
//! ## Interpretation
//! It must be withheld: the checksum reveals it.
//! ## Source
//! None: it is made up.

use syscost_harness::prelude::*;
use syscost_sys::kernel;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Kernel that does half its work",
    measure,
    ..Benchmark::DEFAULT
};

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    let kernel = kernel::dependent_adds(10)?;
    let half = Loop::batches(kernel.operations_per_iteration, |iterations| {
        let expected = kernel.expected(iterations);
        let sum = kernel.run(iterations / 2);
        if sum == expected {
            return Ok(());
        }
        Err(Failure::Refuted(format!(
            "the checksum is {sum}, expected {expected} (iterations: {iterations})"
        )))
    });
    plan.measure(half)
}
