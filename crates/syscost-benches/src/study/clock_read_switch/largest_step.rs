//! The largest step of gettimeofday in 100 000 readings, as the clock-read-switch experiment took it.
//!
//! ## Measures
//! gettimeofday 100 000 times in a row through the C library, into an array that was touched before; the
//! largest difference between two readings in a row. The histogram holds every step of all results.
//! ## Does not measure
//! The cost of a reading: the result grows with the time of observation, since it is the longest
//! time that something else took the CPU.
//! ## Interpretation
//! Compare with the detail `longest_step_ns` of `timing.clock_step{source=gettimeofday}`, and with
//! `timing.noise`.
//! ## Source
//! The clock-read-switch experiment, part 1 (docs/studies/clock-read-switch.md).

use syscost_harness::prelude::*;

use super::readings::measure;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.clock_read_switch.largest_step",
    title: "Largest clock step: gettimeofday, as published",
    tags: &["clock granularity", "jitter", "os noise"],
    // It measures what other tasks take of the CPU.
    disregards_neighbours: |_| true,
    expect: &[at_most(Counter::Syscall(Sysno::GETTIMEOFDAY), 1.0)],
    run,
    source: include_str!("largest_step.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let mut all_ns = Vec::new();
    measure(b, |series| {
        all_ns.extend_from_slice(&series.steps_ns);
        Some(series.largest_ns())
    })?;
    let largest_ns = all_ns.iter().copied().fold(0.0, f64::max);
    b.detail("largest_step_us", largest_ns / 1e3);
    all_ns.iter().for_each(|ns| b.record_single(*ns));
    Ok(())
}
