//! A minimum system call, as the whole-system experiment timed it.
//!
//! ## Measures
//! A loop of 10 000 calls of the C library's getpid, between CPUID and RDTSC before and RDTSCP and CPUID
//! after, per call; the mean of 10 such trials. The loop is a model of code compiled without optimisation.
//! Which system call it was is not published, and a trial had 1 000 000.
//! ## Does not measure
//! A system call that does something. An undisturbed call: the text does not look at what else ran
//! on the core. Here the undisturbed results are shown next to all of them.
//! ## Interpretation
//! Compare with `syscall.null{call=getpid,via=libc}`. Both ways time many calls together, so they should
//! agree.
//! ## Source
//! The whole-system experiment, CPU (docs/studies/whole-system.md).
#![allow(unsafe_code)] // the C library's getpid

use syscost_harness::prelude::*;

use super::super::unoptimised::{InMemory, repeat};
use super::{TRIALS, Trials};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.whole_system.system_call",
    title: "System call, as published",
    tags: &["syscall", "null system call", "kernel entry"],
    expect: &[calls(Sysno::GETPID), at_most(Counter::OtherSyscalls, 0.0)],
    run,
    source: include_str!("system_call.rs"),
    ..Benchmark::DEFAULT
};

/// Calls of a trial.
const CALLS: u64 = 10_000;

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let mut trials = Trials::new(b)?;
    b.as_published(TRIALS * CALLS, || {
        let mut id = InMemory::new(0);
        trials.per_operation(CALLS, || {
            // SAFETY: getpid takes nothing and touches no memory.
            repeat(CALLS, || id.set(unsafe { libc::getpid() }));
            Ok(())
        })
    })?;
    trials.detail(b);
    Ok(())
}
