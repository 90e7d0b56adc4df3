//! Changing to the user that the caller already is.
//!
//! ## Measures
//! A setuid call whose argument is the caller's own user: the kernel prepares new credentials,
//! checks and installs them, and gives the old ones back. Only the calling thread's are changed;
//! the raw call has none of the C library's signals to other threads.
//! ## Does not measure
//! A change to another user, which also accounts processes to their owners.
//! ## Interpretation
//! Several times a null call: it allocates and copies a structure, and frees another later. For
//! root all four ids are set, otherwise only the effective one.
//! ## Source
//! The three-costs experiment.
#![allow(unsafe_code)] // a raw system call: the C library's wrapper does more

use rustix::process::{geteuid, getuid};
use syscost_harness::prelude::*;
use syscost_sys::raw::syscall1;

use super::checked;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "setuid to the same user",
    tags: "credentials, privilege",
    expect: &[calls(Sysno::SETUID)],
    support,
    measure,
    ..Benchmark::DEFAULT
};

fn support(_: &Case, _: &Testbed) -> Result<(), Unsupported> {
    if getuid() == geteuid() {
        Ok(())
    } else {
        Err(Unsupported::new(
            "the program runs set-user-id: setuid would give up its rights",
        ))
    }
}

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    let own = getuid().as_raw() as usize;
    let mut outcome = plan.measure(Loop::each(|| {
        // SAFETY: no memory is touched, and the user stays the same.
        checked(unsafe { syscall1(Sysno::SETUID, own) })
    }))?;
    outcome.claim(
        "user after all calls",
        own as f64,
        f64::from(getuid().as_raw()),
        "getuid",
        getuid() == geteuid() && getuid().as_raw() as usize == own,
    );
    Ok(outcome)
}
