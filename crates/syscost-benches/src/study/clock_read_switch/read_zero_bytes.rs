//! A read of 0 bytes, the minimum of many runs, as the clock-read-switch experiment took it.
//!
//! ## Measures
//! A number of reads of 0 bytes in a row between two readings of gettimeofday, per read; the minimum of many
//! repetitions. What was read is not published, nor how many repetitions there were: here it is /dev/zero,
//! and 1000, 100 and 10 repetitions of 100, 1000 and 10 000 reads.
//! ## Does not measure
//! A part of a microsecond: the clock does not show it, and the minimum of many results is one that the
//! clock's steps made shorter than it was. The detail
//! `clock_step_percent` is one such step in percent of what was timed.
//! ## Interpretation
//! Compare with `syscall.read_zero_bytes{of=zero}`.
//! ## Source
//! The clock-read-switch experiment, part 2 (docs/studies/clock-read-switch.md).

use std::fs::File;
use std::time::Instant;

use rustix::io::read;
use syscost_harness::prelude::*;

use crate::implied::{Implied, Shares};

use super::{STEP_NS, minimum, now_ns, passed_ns};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.clock_read_switch.read_zero_bytes",
    title: "Read of 0 bytes, as published",
    tags: &["syscall", "system call", "kernel entry"],
    cases: Cases::Grid(&[("in_a_row", &["100", "1000", "10000"])]),
    expect: &[calls(Sysno::READ)],
    run,
    source: include_str!("read_zero_bytes.rs"),
    ..Benchmark::DEFAULT
};

/// Total reads of one result.
const READS: u64 = 100_000;

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let in_a_row = b.case().number("in_a_row");
    let zero = File::open("/dev/zero").map_err(|cause| Failure::of("open /dev/zero", cause))?;
    let (mut all_ns, mut implied) = (Vec::new(), Implied::default());
    b.as_published(READS, || {
        let (mut results, since) = (Vec::new(), Instant::now());
        for _ in 0..READS / in_a_row {
            let begun = now_ns()?;
            for _ in 0..in_a_row {
                read(&zero, &mut [0_u8; 0]).map_err(|cause| Failure::of("read 0 bytes", cause))?;
            }
            results.push(passed_ns(begun, now_ns()?) / in_a_row as f64);
        }
        implied.note(results.iter().sum::<f64>() * in_a_row as f64, since);
        let result = minimum(results);
        all_ns.push(result);
        Ok(result)
    })?;
    implied.claim(b, Shares::WHOLE);
    // Any result will do, here the last one: the step is the same for all.
    let timed_ns = all_ns.last().map_or(f64::NAN, |ns| ns * in_a_row as f64);
    b.detail("clock_step_percent", 100.0 * STEP_NS / timed_ns);
    Ok(())
}
