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
use syscost_sys::partner::Between;

use super::copies;
use crate::syscall::{Bad, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "scale.pipe",
    title: "Pipe throughput on many CPUs, one pipe each",
    tags: &["scalability", "kernel scalability", "will-it-scale"],
    unit: Unit::OperationsPerSecond,
    better: Better::Higher,
    expect: &[calls(Sysno::WRITE), calls(Sysno::READ)],
    source: include_str!("pipe.rs"),
    ..Benchmark::of::<Row>()
};

#[derive(Params, Clone)]
pub(super) struct Row {
    /// What the copies are: processes or threads.
    pub(super) r#as: Between,
    pub(super) copies: Copies,
}

impl Measured for Row {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Here) -> Vec<Case<Self>> {
        rows!(Row {
            r#as: Between::ALL,
            copies: copies::copies(here)
        })
    }

    fn profile(&self, _: &Here) -> Profile {
        match self.r#as {
            Between::Processes => Profile::Standard,
            Between::Threads => Profile::Full,
        }
    }

    fn run(self, b: &mut Bencher) -> Result<(), Failure> {
        copies::measure(b, self.r#as, self.copies, |_| {
            let (out, into) =
                pipe_with(PipeFlags::CLOEXEC).map_err(|cause| Failure::of("make a pipe", cause))?;
            let mut byte = [0_u8];
            Ok(move || -> Result<(), Bad> {
                must(write(&into, b".")? == 1)?;
                must(read(&out, &mut byte)? == 1)
            })
        })
    }
}
