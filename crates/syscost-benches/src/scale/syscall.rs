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
use syscost_sys::raw::syscall0;

use super::copies::{self, Operation, ScaledCopies};
use crate::syscall::{Bad, checked};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "System call throughput on many CPUs",
    tags: "getppid, scalability, kernel scalability, will-it-scale",
    unit: Unit::OperationsPerSecond,
    better: Better::Higher,
    expect: &[calls(Sysno::GETPPID)],
    ..Benchmark::by::<ScaledCopies, Syscall>()
};

struct Syscall;

impl Operation for Syscall {
    const PROFILES: [Profile; 2] = [Profile::Quick, Profile::Full];

    fn measure(row: ScaledCopies, plan: Plan) -> Result<Outcome, Failure> {
        copies::measure(plan, row.r#as, row.copies, |_| {
            Ok(|| -> Result<(), Bad> {
                // SAFETY: getppid takes nothing and touches no memory.
                checked(unsafe { syscall0(Sysno::GETPPID) }).map(drop)
            })
        })
    }
}
