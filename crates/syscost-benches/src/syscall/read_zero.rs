//! Reading one byte of /dev/zero.
//!
//! ## Measures
//! A read call of one byte from the device that returns zeros: the path of `syscall.read_zero_bytes` and the
//! clearing of one byte in user memory.
//! ## Does not measure
//! Waiting, or finding data: there is always a zero.
//! ## Interpretation
//! It includes making user memory accessible to the kernel for one byte (SMAP, PAN): the difference
//! from `read_zero_bytes{of=zero}` is nearly that alone.
//! ## Source
//! lmbench `lat_syscall read`.

use rustix::io::read;
use syscost_harness::prelude::*;

use super::{Bad, must, subject};
use crate::witness::messages::LENGTH;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "read of 1 byte from /dev/zero",
    tags: "system call, lat_syscall",
    expect: &[calls(Sysno::READ)],
    profile: Profile::Quick,
    measure,
    ..Benchmark::DEFAULT
};

fn measure(mut plan: Plan) -> Result<Outcome, Failure> {
    let zero = subject::ZERO.open()?;
    plan.expect_argument(Sysno::READ, LENGTH, ArgumentValue::Always(1));
    let mut byte = [1];
    plan.measure(Loop::each(|| -> Result<(), Bad> {
        byte[0] = 1;
        must(read(&zero, &mut byte)? == 1 && byte[0] == 0)
    }))
}
