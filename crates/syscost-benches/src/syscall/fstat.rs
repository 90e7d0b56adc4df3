//! Querying the attributes of an open file.
//!
//! ## Measures
//! fstat of a file in memory and of a pipe: looking up the descriptor and filling in the answer.
//! ## Does not measure
//! Walking a path (`syscall.stat`).
//! ## Interpretation
//! `syscall.stat` minus this is the price of the name.
//! ## Source
//! lmbench `lat_syscall fstat`.

use rustix::fs::{FileType, fstat};
use syscost_harness::prelude::*;

use super::{Bad, must, subject};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "syscall.fstat",
    title: "fstat",
    tags: &["file attributes", "file descriptor", "lat_syscall"],
    cases: Cases::Grid(&[("of", &["file", "pipe"])]),
    expect: &[calls(Sysno::FSTAT)],
    full: |case| case.get("of") != "file",
    run,
    source: include_str!("fstat.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let (fd, kind) = match b.case().get("of") {
        "file" => (subject::file_in_memory()?, FileType::RegularFile),
        "pipe" => (subject::pipe()?.0, FileType::Fifo),
        _ => return Err(b.case().unknown("of")),
    };
    b.try_iter(|| -> Result<(), Bad> { must(FileType::from_raw_mode(fstat(&fd)?.st_mode) == kind) })
}
