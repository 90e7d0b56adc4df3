//! One process that writes a byte into a pipe and reads it back, as the switch-costs experiment timed it.
//!
//! ## Measures
//! 100 000 times a write of one byte into a pipe and its read by the same process, per pair; the loop is
//! not subtracted. By which clock is not published: here the CPU time of the process, as in that text's
//! other loops.
//! ## Does not measure
//! A switch: the byte is in the pipe before it is read.
//! ## Interpretation
//! Compare with `syscall.write_null` and `syscall.read_zero`: two system calls, and the pipe's lock, page
//! and wake-up list.
//! ## Source
//! The switch-costs experiment, "Read & Write overhead" (docs/studies/switch-costs.md).

use rustix::io::{read, write};
use rustix::pipe::{PipeFlags, pipe_with};
use syscost_harness::prelude::*;

use super::super::procedure::now_ns;
use super::super::unoptimised::InMemory;
use super::{AUDITED, CPU_TIME, TURNS};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.switch_costs.pipe_write_read",
    title: "Write and read of a pipe, as published",
    tags: &["pipe latency"],
    run,
    source: include_str!("pipe_write_read.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let pipe = pipe_with(PipeFlags::CLOEXEC);
    let (out, into) = pipe.map_err(|cause| Failure::of("make a pipe", cause))?;
    let failed = |cause| Failure::of("pass a byte through a pipe", cause);
    let pass = |turns: u64| {
        let mut number = InMemory::new(0_u64);
        let begun = now_ns(CPU_TIME);
        while number.get() < turns {
            write(&into, b".").map_err(failed)?;
            read(&out, &mut [0_u8]).map_err(failed)?;
            number.set(number.get() + 1);
        }
        Ok((now_ns(CPU_TIME) - begun) / turns as f64)
    };
    let expected = [
        calls(Sysno::WRITE),
        calls(Sysno::READ),
        // The clock is read twice, regardless of the number of pairs.
        at_most(Counter::OtherSyscalls, 0.0),
    ];
    b.audit_apart(&expected, AUDITED, |turns| pass(turns).map(drop))?;
    b.as_published(TURNS, || pass(TURNS))
}
