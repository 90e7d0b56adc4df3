//! A null system call on many CPUs simultaneously.
//!
//! ## Measures
//! How many getppid calls per second all copies make together. Each copy is pinned to a separate
//! CPU. The first runs on the CPU that measures everything else; others follow on one CPU of each
//! core, those that share its last cache first, then other caches, then other sockets; the second
//! threads of cores come last.
//! ## Does not measure
//! How long one call takes: `syscall.null`.
//! ## Interpretation
//! The call touches nothing that copies share, so twice the copies should make twice the calls.
//! Less shows how CPUs affect each other even so: two threads of a core share it, many busy cores
//! clock lower, and virtual CPUs may share a real one. Read the other rows of the group against
//! this one. `least_share_percent` shows how even it was: 100 is an equal share.
//! ## Source
//! will-it-scale `getppid1`.
#![allow(unsafe_code)] // a raw system call

use syscost_harness::prelude::*;
use syscost_sys::partner::Between;
use syscost_sys::raw::syscall0;

use super::copies;
use crate::syscall::{Bad, checked};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "scale.syscall",
    title: "System call throughput on many CPUs",
    tags: &[
        "getppid",
        "scalability",
        "kernel scalability",
        "will-it-scale",
    ],
    unit: Unit::OperationsPerSecond,
    better: Better::Higher,
    expect: &[calls(Sysno::GETPPID)],
    source: include_str!("syscall.rs"),
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
            Between::Processes => Profile::Quick,
            Between::Threads => Profile::Full,
        }
    }

    fn run(self, b: &mut Bencher) -> Result<(), Failure> {
        copies::measure(b, self.r#as, self.copies, |_| {
            Ok(|| -> Result<(), Bad> {
                // SAFETY: getppid takes nothing and touches no memory.
                checked(unsafe { syscall0(Sysno::GETPPID) }).map(drop)
            })
        })
    }
}
