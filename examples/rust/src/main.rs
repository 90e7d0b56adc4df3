//! Sorts numbers in two ways: a program that measures its own functions.
//!
//! ## Measures
//! A vector of 1,000 numbers in no order is copied into another one, which is sorted there.
//!
//! ## Does not measure
//! The copy alone: 8,000 bytes, some 100 ns.

use std::process::ExitCode;

use syscost::prelude::*;

/// Without any memory but the vector's own.
const UNSTABLE: Benchmark = Benchmark {
    title: "unstable sort of 1,000 numbers",
    expect: &[exactly(Counter::Allocations, 0.0)],
    measure: |plan| {
        let (numbers, mut sorted) = (numbers(), numbers());
        plan.measure(Loop::function(|| {
            sorted.copy_from_slice(&numbers);
            sorted.sort_unstable();
            sorted[500]
        }))
    },
    ..Benchmark::DEFAULT
};

/// With a buffer that it allocates.
const STABLE: Benchmark = Benchmark {
    title: "stable sort of 1,000 numbers",
    expect: &[exactly(Counter::Allocations, 1.0)],
    measure: |plan| {
        let (numbers, mut sorted) = (numbers(), numbers());
        plan.measure(Loop::function(|| {
            sorted.copy_from_slice(&numbers);
            sorted.sort();
            sorted[500]
        }))
    },
    ..Benchmark::DEFAULT
};

/// Numbers in no order, the same in each process.
fn numbers() -> Vec<u64> {
    let step = |number: &u64| {
        Some(
            number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1),
        )
    };
    std::iter::successors(Some(1), step).take(1000).collect()
}

fn main() -> ExitCode {
    let source = include_str!("main.rs");
    syscost::main_with(vec![
        UNSTABLE.named("sort.unstable", source),
        STABLE.named("sort.stable", source),
    ])
    .into()
}
