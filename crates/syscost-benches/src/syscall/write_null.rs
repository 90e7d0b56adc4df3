//! Writing one byte to /dev/null.
//!
//! ## Measures
//! A write call of one byte to the device that discards everything.
//! ## Does not measure
//! Any copy: the device never looks at the byte.
//! ## Interpretation
//! The usual "simple write": entry, descriptor, permission, one indirect call and back.
//! ## Source
//! lmbench `lat_syscall write`.

use rustix::io::write;
use syscost_harness::prelude::*;

use super::{Bad, must, subject};
use crate::witness::messages::LENGTH;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "write of 1 byte to /dev/null",
    tags: "system call, lat_syscall",
    expect: &[calls(Sysno::WRITE)],
    profile: Profile::Quick,
    measure,
    ..Benchmark::DEFAULT
};

fn measure(mut plan: Plan) -> Result<Outcome, Failure> {
    let null = subject::NULL.open()?;
    plan.expect_argument(Sysno::WRITE, LENGTH, ArgumentValue::Always(1));
    plan.measure(Loop::each(|| -> Result<(), Bad> {
        must(write(&null, b"x")? == 1)
    }))
}
