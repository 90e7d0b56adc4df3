//! Checking whether a file exists.
//!
//! ## Measures
//! faccessat, the system call of access(2): walking the path as the real user, and checking for
//! existence (F_OK). `file` is this program's own executable, named within its directory; `device`
//! is /dev/null.
//! ## Does not measure
//! Names that are not in the kernel's cache.
//! ## Interpretation
//! Compared to `syscall.stat` of the same name no answer is filled in, but credentials of the real
//! user may have to be created first.
//! ## Source
//! libMicro `access`.

use rustix::fs::{Access, AtFlags, CWD, accessat};
use syscost_harness::prelude::*;

use super::subject;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "syscall.access",
    title: "access by path",
    tags: &["faccessat", "path lookup", "path walk", "file permissions"],
    cases: Cases::Grid(&[("of", &["file", "device"])]),
    expect: &[calls(Sysno::FACCESSAT)],
    full: |case| case.get("of") != "file",
    run,
    source: include_str!("access.rs"),
    ..Benchmark::DEFAULT
};

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let own = subject::own_executable()?;
    let (directory, name) = match b.case().get("of") {
        "device" => (CWD, c"/dev/null"),
        "file" => (own.directory(), own.name()),
        _ => return Err(b.case().unknown("of")),
    };
    b.try_iter(|| accessat(directory, name, Access::EXISTS, AtFlags::empty()))
}
