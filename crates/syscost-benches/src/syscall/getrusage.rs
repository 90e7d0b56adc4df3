//! Querying the resources used so far.
//!
//! ## Measures
//! The raw getrusage call for the thread and for the process: times, faults and switches summed up
//! and copied out.
//! ## Does not measure
//! Children's usage, which is a copy of sums.
//! ## Interpretation
//! For the process the kernel goes through all its threads under a lock; here there is one.
//! ## Source
//! libMicro `getrusage`.
#![allow(unsafe_code)] // a raw system call

use std::mem::MaybeUninit;

use syscost_harness::prelude::*;
use syscost_sys::raw::syscall2;

use super::checked;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "getrusage",
    tags: "resource usage, cpu time",
    expect: &[calls(Sysno::GETRUSAGE)],
    ..Benchmark::of::<Getrusage>()
};

const WHO: Argument = Argument::at(0, "subject");

/// Whose resources are queried.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Thread,
    Process,
}

#[derive(Params, Clone)]
struct Getrusage {
    of: Of,
}

impl Measured for Getrusage {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Getrusage { of: Of::ALL })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.of {
            Of::Thread => Profile::Full,
            Of::Process => Profile::Standard,
        }
    }

    fn proofs(&self) -> GetrusageProofs<Proof> {
        let who = match self.of {
            Of::Thread => libc::RUSAGE_THREAD,
            Of::Process => libc::RUSAGE_SELF,
        };
        let given = ArgumentValue::Always(who as u64);
        GetrusageProofs {
            of: Proof::argument(Sysno::GETRUSAGE, WHO, given),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let who = match self.of {
            Of::Thread => libc::RUSAGE_THREAD,
            Of::Process => libc::RUSAGE_SELF,
        };
        let mut usage = MaybeUninit::<libc::rusage>::uninit();
        let mut outcome = plan.measure(Loop::each(|| {
            // SAFETY: `usage` has room for what the kernel writes.
            checked(unsafe {
                syscall2(
                    Sysno::GETRUSAGE,
                    who as usize,
                    usage.as_mut_ptr().expose_provenance(),
                )
            })
        }))?;
        // SAFETY: the calls succeeded, so the kernel has filled it in.
        let faults = unsafe { usage.assume_init() }.ru_minflt;
        outcome.claim(
            "page faults of a process's life",
            "more than 0",
            faults as f64,
            "getrusage",
            faults > 0,
        );
        Ok(outcome)
    }
}
