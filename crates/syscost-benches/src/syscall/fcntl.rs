//! Querying the flags of a descriptor and of an open file.
//!
//! ## Measures
//! fcntl F_GETFD (flags of the descriptor) and F_GETFL (flags of its open file), on a pipe.
//! ## Does not measure
//! Locks, which fcntl also provides (`sync.file_lock`).
//! ## Interpretation
//! Two of the shortest calls that take a descriptor: close to a null call.
//! ## Source
//! libMicro `fcntl_tmp` and `fcntl_ndelay`.

use rustix::fs::{OFlags, fcntl_getfl};
use rustix::io::{FdFlags, fcntl_getfd};
use syscost_harness::prelude::*;

use super::{Bad, must, subject};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "syscall.fcntl",
    title: "fcntl: descriptor and file flags",
    tags: &["f_getfd", "f_getfl", "file descriptor"],
    cases: Cases::Grid(&[("op", &["getfd", "getfl"])]),
    expect: &[calls(Sysno::FCNTL)],
    full: |case| case.get("op") != "getfl",
    run,
    source: include_str!("fcntl.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let (_reader, writer) = subject::pipe()?;
    match b.case().get("op") {
        "getfd" => b.try_iter(|| -> Result<(), Bad> {
            must(fcntl_getfd(&writer)?.contains(FdFlags::CLOEXEC))
        }),
        "getfl" => b.try_iter(|| -> Result<(), Bad> {
            must(fcntl_getfl(&writer)?.contains(OFlags::WRONLY))
        }),
        _ => Err(b.case().unknown("op")),
    }
}
