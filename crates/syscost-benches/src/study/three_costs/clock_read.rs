//! rdtsc twice in a row, as the three-costs experiment timed it: the overhead that it subtracts
//! from everything else.
//!
//! ## Measures
//! The difference of two readings with nothing between them, 10 000 times in a loop of code that is not
//! optimised; the mean, and of three such runs the mean. The reading is a bare `rdtsc` in a function, which
//! without optimisation is called.
//! ## Does not measure
//! The cost of a pair around an operation: the readings are ordered neither with each other nor with what is
//! between them, so a part of the operation overlaps with the pair, or the pair with the operation. The
//! details `single_p10_ns` to `single_p90_ns` show how much single pairs vary.
//! ## Interpretation
//! Compare with `timing.clock_step{source=tsc}`, the step from one reading to the next, without the call of
//! the function.
//! ## Source
//! The three-costs experiment, section 3.1 (docs/studies/three-costs.md).

use syscost_harness::prelude::*;

use super::{ITERATIONS, Pairs, RUNS, counter_ticks_per_ns, overhead, support};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.three_costs.clock_read",
    title: "Timer overhead: two clock readings, as published",
    tags: &["rdtsc", "time-stamp counter"],
    expect: &[exactly(Counter::OtherSyscalls, 0.0)],
    support,
    run,
    source: include_str!("clock_read.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let ticks_per_ns = counter_ticks_per_ns(b.clock());
    let mut pairs = Pairs::new(ITERATIONS);
    b.as_published(ITERATIONS * RUNS, || {
        Ok(overhead(&mut pairs)? / ticks_per_ns)
    })?;
    pairs.detail(b, 0.0, ticks_per_ns);
    Ok(())
}
