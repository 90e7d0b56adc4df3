//! One reading of gettimeofday, by the number of equal readings in a row, as the clock-read-switch
//! experiment took it.
//!
//! ## Measures
//! gettimeofday 100 000 times in a row through the C library, into an array; how many readings in a row are
//! equal, each time the clock advances by its microsecond; a microsecond divided by the most frequent such
//! number.
//! ## Does not measure
//! A reading alone: the loop and the store of the reading are in it. Anything between 1000 / n and 1000 /
//! (n + 1) ns.
//! ## Interpretation
//! Compare with `timing.clock_read{source=gettimeofday}`. The detail `equal_readings_count` is the
//! most frequent number.
//! ## Source
//! The clock-read-switch experiment, part 1 (docs/studies/clock-read-switch.md).

use syscost_harness::prelude::*;

use super::STEP_NS;
use super::readings::measure;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.clock_read_switch.clock_read",
    title: "Clock read: gettimeofday, as published",
    tags: &["timer overhead", "vdso"],
    // Whether the kernel is entered depends on this machine: it is counted.
    expect: &[at_most(Counter::Syscall(Sysno::GETTIMEOFDAY), 1.0)],
    run,
    source: include_str!("clock_read.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let mut usual = 0;
    measure(b, |series| {
        usual = series.usual_length()?;
        Some(STEP_NS / f64::from(usual))
    })?;
    b.detail("equal_readings_count", f64::from(usual));
    Ok(())
}
