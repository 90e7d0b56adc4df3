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

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    title: "Null system call",
    tags: "syscall overhead, system call overhead, kernel entry, mode switch, getppid, getuid, \
        lat_syscall, perf bench syscall basic",
    roles: roles!(SyscallNull { call: Call::Getppid, via: None } => Role::SystemCall),
    ..Benchmark::of::<SyscallNull>()
};

/// A number that every architecture still has and no kernel implements.
const ABSENT: Sysno = Sysno::NFSSERVCTL;

/// The system call.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Getppid,
    Getpid,
    Gettid,
    Getuid,
    Absent,
}

impl Call {
    const fn number(self) -> Sysno {
        match self {
            Call::Getppid => Sysno::GETPPID,
            Call::Getpid => Sysno::GETPID,
            Call::Gettid => Sysno::GETTID,
            Call::Getuid => Sysno::GETUID,
            Call::Absent => ABSENT,
        }
    }

    /// The C library's procedure for it.
    fn of_library(self) -> Option<Code> {
        Some(match self {
            Call::Getppid => code_at("the C library's getppid", libc::getppid as *const ()),
            Call::Getpid => code_at("the C library's getpid", libc::getpid as *const ()),
            Call::Gettid => code_at("the C library's gettid", libc::gettid as *const ()),
            Call::Getuid => code_at("the C library's getuid", libc::getuid as *const ()),
            Call::Absent => return None,
        })
    }
}

/// The code of a procedure of the C library that does nothing but a call.
fn code_at(name: &'static str, start: *const ()) -> Code {
    Code {
        name,
        start: start.addr(),
        bytes: 64,
    }
}

/// What makes the call, where it is not made by the bare instruction.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Via {
    Libc,
}

#[derive(Params, Clone, PartialEq)]
pub(crate) struct SyscallNull {
    call: Call,
    via: Option<Via>,
}

/// The row that other operations are compared with.
pub(crate) const GETPPID: SyscallNull = SyscallNull {
    call: Call::Getppid,
    via: None,
};

impl Measured for SyscallNull {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        let raw = rows!(SyscallNull {
            call: Call::ALL,
            via: [None]
        });
        let [present @ .., Call::Absent] = Call::ALL else {
            unreachable!()
        };
        [
            raw,
            rows!(SyscallNull {
                call: present,
                via: [Some(Via::Libc)]
            }),
        ]
        .concat()
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match (self.via, self.call) {
            (None, Call::Getppid | Call::Getuid) => Profile::Quick,
            (None, _) | (Some(Via::Libc), Call::Getppid) => Profile::Standard,
            (Some(Via::Libc), _) => Profile::Full,
        }
    }

    fn proofs(&self) -> SyscallNullProofs<Proof> {
        let via = match (self.via, self.call.of_library()) {
            (Some(Via::Libc), Some(own)) => ArgumentValue::In(own),
            (_, own) => ArgumentValue::NotIn(own.unwrap_or(code_at(
                "the C library's syscall",
                libc::syscall as *const (),
            ))),
        };
        let call = self.call.number();
        SyscallNullProofs {
            call: Proof::counted([calls(call)]),
            via: Proof::argument(call, CALLED_FROM, via),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        match (self.via, self.call) {
            (Some(Via::Libc), Call::Getppid) => {
                // SAFETY: the call takes nothing and touches no memory.
                plan.measure(Loop::infallible(|| unsafe { libc::getppid() }))
            }
            (Some(Via::Libc), Call::Gettid) => {
                // SAFETY: as above.
                plan.measure(Loop::infallible(|| unsafe { libc::gettid() }))
            }
            (Some(Via::Libc), Call::Getuid) => {
                // SAFETY: as above.
                plan.measure(Loop::infallible(|| unsafe { libc::getuid() }))
            }
            (Some(Via::Libc), Call::Getpid) => {
                // SAFETY: as above.
                plan.measure(Loop::infallible(|| unsafe { libc::getpid() }))
            }
            (_, Call::Absent) => absent(plan),
            (None, call) => {
                let call = call.number();
                // SAFETY: none of the four takes anything or touches memory.
                plan.measure(Loop::each(|| checked(unsafe { syscall0(call) })))
            }
        }
    }
}

fn absent(plan: Plan) -> Result<Outcome, Failure> {
    let enosys = -(libc::ENOSYS as isize);
    // SAFETY: no kernel has the call.
    if let Err(Bad::Refused(Errno::PERM)) = checked(unsafe { syscall0(ABSENT) }) {
        let reason = "a seccomp filter, as of a container, answers in the kernel's place (EPERM)";
        return Err(Failure::Unsupported(reason.to_owned()));
    }
    // SAFETY: no kernel has the call.
    plan.measure(Loop::each(|| must(unsafe { syscall0(ABSENT) } == enosys)))
}
