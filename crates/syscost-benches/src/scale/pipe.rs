//! A separate pipe for each of many CPUs.
//!
//! ## Measures
//! How many one-byte transfers per second all copies complete together: each is a write into the
//! copy's own pipe and a read from it.
//! ## Does not measure
//! Tasks that wake each other: `switch.pipe`; bandwidth: `ipc.bandwidth`.
//! ## Interpretation
//! The copies share nothing but the kernel's allocators and, as threads, the file descriptor table,
//! which every call looks into. The first copy runs on the measured CPU, the others as in
//! `scale.syscall`.
//! ## Source
//! will-it-scale `pipe1`.

use rustix::io::{read, write};
use rustix::pipe::{PipeFlags, pipe_with};
use syscost_harness::prelude::*;

use super::copies::{self, Operation, ScaledCopies};
use crate::syscall::{Bad, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Pipe throughput on many CPUs, one pipe each",
    tags: "scalability, kernel scalability, will-it-scale",
    unit: Unit::OperationsPerSecond,
    better: Better::Higher,
    expect: &[calls(Sysno::WRITE), calls(Sysno::READ)],
    ..Benchmark::by::<ScaledCopies, Pipe>()
};

struct Pipe;

impl Operation for Pipe {
    const PROFILES: [Profile; 2] = [Profile::Standard, Profile::Full];

    fn measure(row: ScaledCopies, plan: Plan) -> Result<Outcome, Failure> {
        copies::measure(plan, row.r#as, row.copies, |_| {
            let (out, into) = pipe_with(PipeFlags::CLOEXEC).tried("make a pipe")?;
            let mut byte = [0_u8];
            Ok(move || -> Result<(), Bad> {
                must(write(&into, b".")? == 1)?;
                must(read(&out, &mut byte)? == 1)
            })
        })
    }
}
