//! Calls of seven signatures, as the call-and-switch experiment timed them.
//!
//! ## Measures
//! A loop that calls a function which does nothing, less the same loop without the call, less two readings
//! of the timer, per call; the median of 21 such results, rounded to one decimal of a nanosecond. The loop
//! adds up its counter, so that it is not optimised away. How many turns it made is not published:
//! here 100 000.
//! ## Does not measure
//! A difference of less than a tenth of a nanosecond, a quarter to a half of a cycle: the rounding hides
//! it. The time of a single call: the core overlaps it with the loop.
//! ## Interpretation
//! Compare with `call.integer`, `call.double`, `call.struct_argument` and `call.struct_return`. Subtracting
//! the loop removes work that the core did at the same time as the call, so the difference is less than
//! the call: it may be anything down to zero.
//! ## Source
//! The call-and-switch experiment, part 1 (docs/studies/call-and-switch.md).

use syscost_harness::prelude::*;
use syscost_sys::counters::TaskId;
use syscost_sys::perf::{Uses, Watch};

use super::super::callee::{self, Record, repeat, unknown};
use super::median_of_runs;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.call_and_switch.function_call",
    title: "Function call, as published",
    tags: &[
        "procedure call",
        "function call overhead",
        "calling convention",
    ],
    cases: Cases::Grid(&[(
        "signature",
        &[
            "none",
            "int",
            "int_int",
            "double",
            "int_x8",
            "struct",
            "returns_struct",
        ],
    )]),
    quantity: Quantity::Level,
    expect: &[exactly(Counter::OtherSyscalls, 0.0)],
    run,
    source: include_str!("function_call.rs"),
    ..Benchmark::DEFAULT
};

/// Turns of a loop.
const TURNS: u64 = 100_000;

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let signature = b.case().get("signature").to_owned();
    let record = Record {
        words: unknown([1; 8]),
    };
    // Each loop is compiled for its own callee, as in a program that names it.
    match signature.as_str() {
        "none" => measure(b, callee::none as *const u64, || callee::none()),
        "int" => measure(b, callee::integer as *const u64, || callee::integer(1)),
        "int_int" => measure(b, callee::two_integers as *const u64, || {
            callee::two_integers(1, 2);
        }),
        "double" => measure(b, callee::double as *const u64, || callee::double(1.0)),
        "int_x8" => measure(b, callee::eight_integers as *const u64, || {
            callee::eight_integers(1, 2, 3, 4, 5, 6, 7, 8);
        }),
        "struct" => measure(b, callee::record as *const u64, || callee::record(record)),
        "returns_struct" => measure(b, callee::returns_record as *const u64, || {
            callee::returns_record();
        }),
        _ => Err(b.case().unknown("signature")),
    }
}

/// Measures a call of the procedure at this address.
fn measure(b: &mut Bencher, callee: *const u64, call: impl Fn()) -> Result<(), Failure> {
    // A result takes 21 loops with the call.
    let operations = TURNS * super::RUNS as u64;
    b.as_published(operations, || {
        let without = || repeat(TURNS, || ());
        let with = || repeat(TURNS, &call);
        Ok(median_of_runs(TURNS, without, with))
    })?;
    match b.is_timed() {
        true => Ok(()),
        false => claim_called(b, callee, call),
    }
}

/// Turns in which calls are counted.
const WATCHED: u64 = 64;

/// Claims that each turn calls this procedure once, where the processor can report it.
fn claim_called(b: &mut Bencher, callee: *const u64, call: impl Fn()) -> Result<(), Failure> {
    let Ok(watch) = Watch::of(TaskId::own(), callee, Uses::Calls) else {
        return Ok(());
    };
    repeat(WATCHED, call);
    let seen = watch.count();
    let seen = seen.map_err(|error| Failure::Unsupported(error.to_string()))?;
    let claim = format!("calls of the named procedure in {WATCHED} turns");
    b.claim_equal(&claim, WATCHED, seen, "debug register");
    Ok(())
}
