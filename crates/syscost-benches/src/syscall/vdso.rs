//! Calls that need not enter the kernel, against the same calls that do.
//!
//! ## Measures
//! clock_gettime (CLOCK_MONOTONIC) and getcpu, each through the vDSO, the kernel's own code mapped
//! into every process, and as a raw system call.
//! ## Does not measure
//! Other clocks (`timing.clock_read`).
//! ## Interpretation
//! The pair's difference is what the vDSO saves. Where the kernel's clock source cannot be read by
//! user code, the vDSO falls back to the system call: then the `vdso` case is withheld, since its
//! evidence counts system calls. Without a vDSO it is unsupported.
//! ## Source
//! vdso(7); libMicro `gettimeofday` and `getcpuid`.
#![allow(unsafe_code)] // raw system calls

use std::mem::MaybeUninit;

use rustix::time::{ClockId, Timespec, clock_gettime};
use syscost_harness::prelude::*;
use syscost_sys::platform;
use syscost_sys::raw::{syscall2, syscall3};

use super::{checked, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "vDSO call vs. system call",
    tags: "clock_gettime, getcpu, virtual system call, vsyscall",
    ..Benchmark::of::<SyscallVdso>()
};

static ANSWER: Witness = Witness::of("what the last call answers", "its answer");

/// The call.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    ClockGettime,
    Getcpu,
}

/// Whether the vDSO answers or the kernel is entered.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Via {
    Vdso,
    Syscall,
}

#[derive(Params, Clone)]
struct SyscallVdso {
    call: Call,
    via: Via,
}

impl Measured for SyscallVdso {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(SyscallVdso {
            call: Call::ALL,
            via: Via::ALL
        })
    }

    fn support(&self, _: &Testbed) -> Result<(), Unsupported> {
        match self.via {
            Via::Vdso => platform::vdso(),
            Via::Syscall => Ok(()),
        }
    }

    fn proofs(&self) -> SyscallVdsoProofs<Proof> {
        let (call, answer) = match self.call {
            Call::ClockGettime => (Sysno::CLOCK_GETTIME, "the time"),
            Call::Getcpu => (Sysno::GETCPU, "the processor"),
        };
        // A call and its return, and an instruction that asks the processor for something.
        const FLOOR_CYCLES: f64 = 5.0;
        let via = match self.via {
            Via::Vdso => vec![
                exactly(Counter::Syscall(call), 0.0),
                costs(Counter::CoreCycles, FLOOR_CYCLES),
            ],
            Via::Syscall => vec![exactly(Counter::Syscall(call), 1.0)],
        };
        SyscallVdsoProofs {
            call: ANSWER.expects(answer),
            via: Proof::counted(via),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let own = plan.cpu();
        let begun = clock_gettime(ClockId::Monotonic);
        match (self.call, self.via) {
            (Call::ClockGettime, Via::Vdso) => {
                let mut before = begun;
                let outcome = plan.measure(Loop::each(|| {
                    let now = clock_gettime(ClockId::Monotonic);
                    let forward = (now.tv_sec, now.tv_nsec) >= (before.tv_sec, before.tv_nsec);
                    before = now;
                    must(forward)
                }))?;
                Ok(answered(outcome, begun, [before.tv_sec, before.tv_nsec]))
            }
            (Call::ClockGettime, Via::Syscall) => {
                let mut now = MaybeUninit::<libc::timespec>::zeroed();
                let place = now.as_mut_ptr().expose_provenance();
                let outcome = plan.measure(Loop::each(|| {
                    // SAFETY: the kernel writes a time to `now`, which has room for it.
                    checked(unsafe {
                        syscall2(Sysno::CLOCK_GETTIME, libc::CLOCK_MONOTONIC as usize, place)
                    })
                }))?;
                // SAFETY: `place` is the address of `now`, for which zeros are a value, too.
                let now = unsafe { (place as *const libc::timespec).read_volatile() };
                Ok(answered(outcome, begun, [now.tv_sec, now.tv_nsec]))
            }
            (Call::Getcpu, Via::Vdso) => {
                // Where nothing is timed, each answer must differ from what is no CPU: it is no copy
                // of what it is compared with.
                let is_own = plan.is_timed();
                let expected = if is_own { own as usize } else { usize::MAX };
                // So short that a branch per call would matter: wrong results are only added up.
                let mut strays: u64 = 0;
                let mut outcome = plan.measure(Loop::infallible(|| {
                    strays += u64::from(rustix::thread::sched_getcpu() != expected)
                }))?;
                if is_own {
                    outcome.claim_equal("answers naming another CPU", 0, strays, "benchmark");
                } else {
                    let answers = strays as f64 / outcome.operations().max(1) as f64;
                    let claim = "answers other than no CPU, per call";
                    outcome.claim_within(claim, Bound::Exactly(1.0), answers, "benchmark");
                }
                let last = rustix::thread::sched_getcpu() as i64;
                Ok(answered(outcome, begun, [last, 0]))
            }
            (Call::Getcpu, Via::Syscall) => {
                let mut cpu: u32 = 0;
                let place = (&raw mut cpu).expose_provenance();
                let outcome = plan.measure(Loop::each(|| {
                    // SAFETY: the kernel writes one number to `cpu`, which outlives the call; the others may be null.
                    checked(unsafe { syscall3(Sysno::GETCPU, place, 0, 0) })?;
                    // SAFETY: `place` is the address of `cpu`.
                    must(unsafe { (place as *const u32).read_volatile() } == own)
                }))?;
                // SAFETY: `place` is the address of `cpu`.
                let last = unsafe { (place as *const u32).read_volatile() };
                Ok(answered(outcome, begun, [last.into(), 0]))
            }
        }
    }
}

/// Shows what the calls answered: a time since they began, or the number of this processor.
fn answered<'a>(mut outcome: Outcome<'a>, begun: Timespec, answer: [i64; 2]) -> Outcome<'a> {
    let now = clock_gettime(ClockId::Monotonic);
    let is_time = (begun.tv_sec, begun.tv_nsec) <= answer.into()
        && <(i64, i64)>::from(answer) <= (now.tv_sec, now.tv_nsec);
    let own = i64::from(outcome.cpu());
    outcome.observe(
        &ANSWER,
        match answer {
            _ if is_time => "the time".to_owned(),
            [number, 0] if number == own => "the processor".to_owned(),
            other => format!("{other:?}"),
        },
    );
    outcome
}
