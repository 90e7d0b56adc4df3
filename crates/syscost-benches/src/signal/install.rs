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
    id: "signal.install",
    title: "Signal handler installation",
    tags: &["sigaction", "lat_sig"],
    expect: &[calls(Sysno::RT_SIGACTION)],
    quick: |_| true,
    run,
    source: include_str!("install.rs"),
    ..Benchmark::DEFAULT
};

extern "C" fn first(_: c_int, _: *mut siginfo_t, _: *mut c_void) {}

extern "C" fn second(_: c_int, _: *mut siginfo_t, context: *mut c_void) {
    // Differs from the other handler, lest the compiler merges the two.
    std::hint::black_box(context);
}

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let _restore = Handler::install(libc::SIGUSR1, first)?;
    let mut actions = [own::action(first), own::action(second)];
    let mut before = own::action(first);
    b.try_iter(|| {
        actions.swap(0, 1);
        // SAFETY: both structures are valid, and either handler may run at any time.
        let refused = unsafe { libc::sigaction(libc::SIGUSR1, &actions[0], &mut before) } != 0;
        // The old handler is the one that the previous call installed.
        match !refused && before.sa_sigaction == actions[1].sa_sigaction {
            true => Ok(()),
            false => Err("sigaction did not return the previous handler"),
        }
    })
}
