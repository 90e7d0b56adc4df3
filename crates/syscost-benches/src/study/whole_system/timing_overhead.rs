//! Reading the time-stamp counter, as the whole-system experiment timed it.
//!
//! ## Measures
//! A loop of 1 000 000 readings by RDTSC, each stored, between CPUID and RDTSC before and RDTSCP and CPUID
//! after, per reading; the mean of 10 such trials. The loop is a model of code compiled without
//! optimisation: its counter and the value read are kept in memory. What the published overhead
//! refers to is not stated; it is too little for a pair with CPUID.
//! ## Does not measure
//! The overhead of a measurement: the two CPUIDs that serialise it lie outside of the readings, and a reading
//! overlaps with others. The detail `cpuid_ns` is the time of one CPUID, `pair_ns` the difference
//! of a pair of readings with nothing between.
//! ## Interpretation
//! Compare with `timing.clock_read{source=tsc}`. In a virtual machine CPUID is executed by the hypervisor
//! and takes microseconds.
//! ## Source
//! The whole-system experiment, CPU (docs/studies/whole-system.md).

use syscost_harness::prelude::*;
use syscost_sys::arch;

use super::super::procedure::median;
use super::super::unoptimised::{InMemory, repeat};
use super::{MANY, TRIALS, Timer, Trials};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.whole_system.timing_overhead",
    title: "Timer overhead: time-stamp counter read, as published",
    tags: &["rdtsc", "clock read"],
    quantity: Quantity::Level,
    expect: &[exactly(Counter::OtherSyscalls, 0.0)],
    run,
    source: include_str!("timing_overhead.rs"),
    ..Benchmark::DEFAULT
};

/// Number of times that CPUID, and a pair around nothing, are timed.
const PAIRS: u32 = 201;

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let mut trials = Trials::new(b)?;
    b.as_published(TRIALS * MANY, || {
        let mut reading = InMemory::new(0);
        trials.per_operation(MANY, || {
            repeat(MANY, || reading.set(arch::cycle_counter_unfenced()));
            Ok(())
        })
    })?;
    trials.detail(b);
    let timer = Timer {
        clock: &trials.clock,
    };
    let pairs = |work: fn()| {
        let pairs = (0..PAIRS).map(|_| timer.time(work).1);
        median(&pairs.collect::<Vec<_>>())
    };
    let (pair, with_cpuid) = (pairs(|| ()), pairs(arch::serialize));
    b.detail("pair_ns", pair);
    b.detail("cpuid_ns", with_cpuid - pair);
    Ok(())
}
