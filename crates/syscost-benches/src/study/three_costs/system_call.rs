//! getpid and setuid, as the three-costs experiment timed them.
//!
//! ## Measures
//! A pair of `rdtsc` around each single call, less the mean of pairs with nothing between them, 10 000
//! times in a loop of code that is not optimised; the mean, and of three such runs the mean.
//! `getpid_cached` is a model of the C library of those years, whose getpid asks the kernel once and then
//! reads a variable; `getpid` enters the kernel each time, which shows what the figure would have been. The
//! user that setuid was given is not published: here it is the caller's own.
//! ## Does not measure
//! A system call, in the case of `getpid_cached`: of 10 000 calls one enters the kernel, and it is
//! not visible which.
//! ## Interpretation
//! Compare with `syscall.null{call=getpid}` and `syscall.setuid`. The detail `first_operation_ns` is the
//! first call of the process, which the text found slower than the others. Single calls shorter than a pair
//! of readings come out as zero or less (`zero_or_less_percent`).
//! ## Source
//! The three-costs experiment, section 3.1 (docs/studies/three-costs.md).
#![allow(unsafe_code)] // raw system calls

use std::hint::black_box;
use std::time::Duration;

use rustix::process::{geteuid, getuid};
use syscost_harness::prelude::*;
use syscost_sys::audit::{AuditError, count_syscalls};
use syscost_sys::raw::{syscall0, syscall1};

use super::{ITERATIONS, cached_getpid, measure, support};
use crate::syscall::checked;

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    id: "study.three_costs.system_call",
    title: "System call, as published",
    tags: &["syscall", "setuid", "kernel entry"],
    cases: Cases::List(&[
        CaseSpec {
            params: &[("call", CACHED)],
            // The call that fills the cache.
            expect: &[at_most(Counter::Syscall(Sysno::GETPID), 0.001)],
        },
        CaseSpec {
            params: &[("call", "getpid")],
            expect: &[calls(Sysno::GETPID)],
        },
        CaseSpec {
            params: &[("call", "setuid")],
            expect: &[calls(Sysno::SETUID)],
        },
    ]),
    quantity: Quantity::Level,
    expect: &[exactly(Counter::OtherSyscalls, 0.0)],
    support,
    run,
    source: include_str!("system_call.rs"),
    ..Benchmark::DEFAULT
};

const CACHED: &str = "getpid_cached";

/// A claim of the cached case.
const ENTERED: &str = "calls that entered the kernel in a run of 10000";

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let case = b.case().get("call").to_owned();
    match case.as_str() {
        CACHED => {
            if !b.is_timed() {
                claim_entered(b)?;
            }
            measure(b, cached_getpid::forget, || {
                black_box(cached_getpid::getpid());
                Ok(())
            })
        }
        "getpid" => measure(
            b,
            || (),
            || {
                // SAFETY: getpid takes nothing and touches no memory.
                black_box(unsafe { syscall0(Sysno::GETPID) });
                Ok(())
            },
        ),
        "setuid" => {
            if getuid() != geteuid() {
                let reason = "the program runs set-user-id: setuid would give up its rights";
                return Err(Failure::Unsupported(reason.into()));
            }
            let own = getuid().as_raw() as usize;
            measure(
                b,
                || (),
                || {
                    // SAFETY: no memory is touched, and the user stays the same.
                    let done = checked(unsafe { syscall1(Sysno::SETUID, own) });
                    done.map(drop)
                        .map_err(|cause| Failure::of("setuid to the own user", cause))
                },
            )
        }
        _ => Err(b.case().unknown("call")),
    }
}

/// Claims how many calls of a run enter the kernel.
fn claim_entered(b: &mut Bencher) -> Result<(), Failure> {
    let counted = count_syscalls(Duration::from_secs(5), || {
        cached_getpid::forget();
        for _ in 0..ITERATIONS {
            black_box(cached_getpid::getpid());
        }
    });
    match counted {
        Ok(counts) => {
            let entered = counts.get(Sysno::GETPID) as f64;
            b.claim_equal(ENTERED, 1.0, entered, "seccomp audit");
        }
        Err(AuditError::SeccompUnavailable(cause)) => {
            let reason = cause.to_string();
            b.claim_unverified(ENTERED, 1.0, "not counted", "seccomp audit", &reason);
        }
        Err(error) => return Err(Failure::of("counting the system calls of getpid", error)),
    }
    Ok(())
}
