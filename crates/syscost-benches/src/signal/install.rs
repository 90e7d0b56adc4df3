//! Installing a signal handler.
//!
//! ## Measures
//! One sigaction call of the C library that replaces the handler of a signal that is never sent.
//! ## Does not measure
//! Any delivery (`signal.catch`).
//! ## Interpretation
//! The kernel copies a structure in and one out, under the lock of the process's signals.
//! ## Source
//! lmbench `lat_sig install`; libMicro `signal`.
#![allow(unsafe_code)] // sigaction

use libc::{c_int, c_void, siginfo_t};
use syscost_harness::prelude::*;

use super::own::{self, Handler};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Signal handler installation",
    tags: "sigaction, lat_sig",
    revision: 2,
    expect: &[calls(Sysno::RT_SIGACTION)],
    profile: Profile::Quick,
    measure,
    ..Benchmark::DEFAULT
};

extern "C" fn first(_: c_int, _: *mut siginfo_t, _: *mut c_void) {}

extern "C" fn second(_: c_int, _: *mut siginfo_t, context: *mut c_void) {
    // Differs from the other handler, lest the compiler merges the two.
    std::hint::black_box(context);
}

fn measure(plan: Plan) -> Result<Outcome, Failure> {
    let _restore = Handler::install(libc::SIGUSR1, first)?;
    let actions = [own::action(first), own::action(second)];
    // Their addresses take turns: to swap the structures, of 152 bytes, would be some 5 % of the
    // call.
    let [mut installed, mut next] = actions.each_ref();
    let mut before = *installed;
    plan.measure(Loop::each(|| {
        // SAFETY: all structures are valid, and either handler may run at any time.
        let refused = unsafe { libc::sigaction(libc::SIGUSR1, next, &raw mut before) } != 0;
        if refused || before.sa_sigaction != installed.sa_sigaction {
            return Err("sigaction did not return the previous handler");
        }
        std::mem::swap(&mut installed, &mut next);
        Ok(())
    }))
}
