//! Querying the attributes of an open file.
//!
//! ## Measures
//! The system call fstat, of a file in memory and of a pipe: looking up the descriptor and filling
//! in the answer. `call=newfstatat`: the same question by newfstatat with an empty name, which is
//! what the C library's fstat does in glibc since 2.33; in musl it is the system call fstat.
//! ## Does not measure
//! Walking a path (`syscall.stat`).
//! ## Interpretation
//! `syscall.stat` minus this is the price of the name. Recent kernels take a shortcut for an
//! empty name; older ones copy it and look it up.
//! ## Source
//! lmbench `lat_syscall fstat`.

use rustix::fs::{AtFlags, FileType, Stat, fstat, statat};
use syscost_harness::prelude::*;

use super::{Bad, must, subject};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "syscall.fstat",
    title: "fstat",
    tags: &[
        "file attributes",
        "file descriptor",
        "newfstatat",
        "empty path",
        "lat_syscall",
    ],
    cases: Cases::List(&[
        CaseSpec {
            params: &[("of", "file")],
            expect: &BY_FSTAT,
        },
        CaseSpec {
            params: &[("of", "pipe")],
            expect: &BY_FSTAT,
        },
        CaseSpec {
            params: &[("of", "file"), ("call", "newfstatat")],
            expect: &BY_NEWFSTATAT,
        },
        CaseSpec {
            params: &[("of", "pipe"), ("call", "newfstatat")],
            expect: &BY_NEWFSTATAT,
        },
    ]),
    full: |case| case.get("of") != "file" || case.find("call").is_some(),
    run,
    source: include_str!("fstat.rs"),
    ..Benchmark::DEFAULT
};

const BY_FSTAT: [Expect; 1] = [calls(Sysno::FSTAT)];
const BY_NEWFSTATAT: [Expect; 1] = [calls(Sysno::NEWFSTATAT)];

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let (fd, kind) = match b.case().get("of") {
        "file" => (subject::file_in_memory()?, FileType::RegularFile),
        "pipe" => (subject::pipe()?.0, FileType::Fifo),
        _ => return Err(b.case().unknown("of")),
    };
    let is_right = |stat: Stat| must(FileType::from_raw_mode(stat.st_mode) == kind);
    match b.case().find("call") {
        None => b.try_iter(|| -> Result<(), Bad> { is_right(fstat(&fd)?) }),
        Some("newfstatat") => {
            b.try_iter(|| -> Result<(), Bad> { is_right(statat(&fd, c"", AtFlags::EMPTY_PATH)?) })
        }
        Some(_) => Err(b.case().unknown("call")),
    }
}
