//! Querying a file's attributes by name.
//!
//! ## Measures
//! newfstatat, the system call of stat(2): walking the path and filling in the answer. `file` is
//! this program's own executable, named within its directory (one component); `device` is /dev/null
//! (two components); `root` is `/` (none).
//! ## Does not measure
//! Reading directories or inodes from a device: the names are in the kernel's cache after the first call.
//! ## Interpretation
//! Each component of a path costs a lookup. For `file` the file system is asked: an overlay also
//! asks the one below it.
//! ## Source
//! lmbench `lat_syscall stat`; libMicro `stat_tmp`.

use rustix::fs::{AtFlags, CWD, FileType, statat};
use syscost_harness::prelude::*;

use super::{Bad, must, subject};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "syscall.stat",
    title: "stat by path",
    tags: &[
        "path lookup",
        "path walk",
        "file attributes",
        "newfstatat",
        "lat_syscall",
    ],
    cases: Cases::Grid(&[("of", &["file", "device", "root"])]),
    expect: &[calls(Sysno::NEWFSTATAT)],
    quick: |case| case.get("of") == "file",
    full: |case| case.get("of") == "device",
    run,
    source: include_str!("stat.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let own = subject::own_executable()?;
    let (directory, name, kind) = match b.case().get("of") {
        "device" => (CWD, c"/dev/null", FileType::CharacterDevice),
        "root" => (CWD, c"/", FileType::Directory),
        "file" => (own.directory(), own.name(), FileType::RegularFile),
        _ => return Err(b.case().unknown("of")),
    };
    statat(directory, name, AtFlags::empty())
        .map_err(|error| Failure::of(&format!("stat of {}", name.to_string_lossy()), error))?;
    b.try_iter(|| -> Result<(), Bad> {
        let stat = statat(directory, name, AtFlags::empty())?;
        must(FileType::from_raw_mode(stat.st_mode) == kind)
    })
}
