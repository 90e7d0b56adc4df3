//! The cheapest system calls, as raw instructions and through the C library.
//!
//! ## Measures
//! One entry into the kernel, the minimum work a call can do there, and the way back, with
//! mitigations as they are. Raw cases execute the `syscall` (`svc`) instruction themselves; `libc`
//! cases call the C library's wrapper for the same call. `absent` is nfsservctl, which Linux
//! dropped in 3.1: its number only leads to "no such call" (ENOSYS).
//! ## Does not measure
//! Any useful work, and cold caches (`syscall.cold`).
//! ## Interpretation
//! `absent` is the entry and the exit alone. getppid follows a pointer and takes a read lock,
//! getuid maps an id, so each may cost a little more. A `libc` case cheaper than its raw one would
//! mean that the library answers from a cache: glibc 2.3.4 to 2.24 did so for getpid, which is how
//! published costs of "a system call" came to be a few cycles.
//! ## Source
//! lmbench `lat_syscall null`; the call-and-switch, three-costs, whole-system and switch-costs experiments.
#![allow(unsafe_code)] // raw system calls

use rustix::io::Errno;
use syscost_harness::prelude::*;
use syscost_sys::raw::syscall0;

use super::{Bad, checked, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    id: "syscall.null",
    title: "Null system call",
    tags: &[
        "syscall overhead",
        "system call overhead",
        "kernel entry",
        "mode switch",
        "getppid",
        "getuid",
        "lat_syscall",
        "perf bench syscall basic",
    ],
    cases: Cases::List(&[
        CaseSpec {
            params: &[("call", "getppid")],
            expect: &[calls(Sysno::GETPPID)],
        },
        CaseSpec {
            params: &[("call", "getpid")],
            expect: &[calls(Sysno::GETPID)],
        },
        CaseSpec {
            params: &[("call", "gettid")],
            expect: &[calls(Sysno::GETTID)],
        },
        CaseSpec {
            params: &[("call", "getuid")],
            expect: &[calls(Sysno::GETUID)],
        },
        CaseSpec {
            params: &[("call", "absent")],
            expect: &[calls(ABSENT)],
        },
        CaseSpec {
            params: &[("call", "getppid"), ("via", "libc")],
            expect: &[calls(Sysno::GETPPID)],
        },
        CaseSpec {
            params: &[("call", "getpid"), ("via", "libc")],
            expect: &[calls(Sysno::GETPID)],
        },
        CaseSpec {
            params: &[("call", "gettid"), ("via", "libc")],
            expect: &[calls(Sysno::GETTID)],
        },
        CaseSpec {
            params: &[("call", "getuid"), ("via", "libc")],
            expect: &[calls(Sysno::GETUID)],
        },
    ]),
    quick: |case| case.find("via").is_none() && ["getppid", "getuid"].contains(&case.get("call")),
    full: |case| case.find("via").is_some() && case.get("call") != "getppid",
    run,
    source: include_str!("null.rs"),
    ..Benchmark::DEFAULT
};

/// A number that every architecture still has and no kernel implements.
const ABSENT: Sysno = Sysno::NFSSERVCTL;

fn run(b: &mut Bencher) -> Result<(), Failure> {
    let name = b.case().get("call").to_owned();
    if let Some(via) = b.case().find("via") {
        if via != "libc" {
            return Err(b.case().unknown("via"));
        }
        return match name.as_str() {
            // SAFETY: the call takes nothing and touches no memory.
            "getppid" => b.iter(|| unsafe { libc::getppid() }),
            // SAFETY: as above.
            "gettid" => b.iter(|| unsafe { libc::gettid() }),
            // SAFETY: as above.
            "getuid" => b.iter(|| unsafe { libc::getuid() }),
            // SAFETY: as above.
            "getpid" => b.iter(|| unsafe { libc::getpid() }),
            _ => Err(b.case().unknown("call")),
        };
    }
    if name == "absent" {
        let enosys = -(libc::ENOSYS as isize);
        // SAFETY: no kernel has the call.
        if let Err(Bad::Refused(Errno::PERM)) = checked(unsafe { syscall0(ABSENT) }) {
            let reason =
                "a seccomp filter, as of a container, answers in the kernel's place (EPERM)";
            return Err(Failure::Unsupported(reason.to_owned()));
        }
        // SAFETY: no kernel has the call.
        return b.try_iter(|| must(unsafe { syscall0(ABSENT) } == enosys));
    }
    let call = Sysno::from_name(&name).ok_or_else(|| b.case().unknown("call"))?;
    // SAFETY: none of the four takes anything or touches memory.
    b.try_iter(|| checked(unsafe { syscall0(call) }))
}
