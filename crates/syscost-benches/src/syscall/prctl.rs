//! Querying an attribute of the process.
//!
//! ## Measures
//! prctl PR_GET_DUMPABLE: the kernel's largest dispatch of sub-commands, and one flag read.
//! ## Does not measure
//! Sub-commands that change something.
//! ## Interpretation
//! A null call, the security module's check of every prctl, and a jump table.
//! ## Source
//! prctl(2).
#![allow(unsafe_code)] // a raw system call

use syscost_harness::prelude::*;
use syscost_sys::raw::syscall5;

use super::checked;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "prctl",
    tags: "pr_get_dumpable, system call",
    expect: &[calls(Sysno::PRCTL)],
    measure,
    ..Benchmark::DEFAULT
};

const OPTION: Argument = Argument::at(0, "option");

fn measure(mut plan: Plan) -> Result<Outcome, Failure> {
    let named = ArgumentValue::Always(libc::PR_GET_DUMPABLE as u64);
    plan.expect_argument(Sysno::PRCTL, OPTION, named);
    let command = libc::PR_GET_DUMPABLE as usize;
    plan.measure(Loop::each(|| {
        // SAFETY: the sub-command takes nothing and touches no memory.
        checked(unsafe { syscall5(Sysno::PRCTL, command, 0, 0, 0, 0) })
    }))
}
