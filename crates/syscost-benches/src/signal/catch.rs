//! Sending a signal to the own process and catching it.
//!
//! ## Measures
//! One kill (to the own process) or tgkill (to the own thread), the kernel's set-up of a frame on
//! the stack, a handler that counts, the rt_sigreturn that ends it, and the way back: two system
//! calls and a detour.
//! ## Does not measure
//! Waking another task (`ipc.round_trip{via=signal}`).
//! ## Interpretation
//! Most of it is saving and restoring the processor's whole state, wide registers included, in user memory.
//! `syscall.kill_zero` is the part that finds the receiver.
//! ## Source
//! lmbench `lat_sig catch`.
#![allow(unsafe_code)] // raw system calls

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use libc::{c_int, c_void, siginfo_t};
use syscost_harness::prelude::*;
use syscost_sys::raw::{syscall2, syscall3};

use super::own::{Handler, Ids};
use crate::syscall::checked;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Signal delivery, caught by a handler",
    tags: "signal handler overhead, signal latency, kill, tgkill, sigreturn, lat_sig",
    expect: &[
        calls(Sysno::RT_SIGRETURN),
        exactly(Counter::Reported(CAUGHT), 1.0),
    ],
    roles: roles!(Catch { via: Via::Tgkill } => Role::Signal),
    ..Benchmark::of::<Catch>()
};

const CAUGHT: &str = "handler runs";
const SIGNAL: c_int = libc::SIGUSR1;

static RUNS: AtomicU64 = AtomicU64::new(0);

extern "C" fn count(_: c_int, _: *mut siginfo_t, _: *mut c_void) {
    RUNS.fetch_add(1, Relaxed);
}

/// The system call that sends the signal.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Via {
    Kill,
    Tgkill,
}

#[derive(Params, Clone)]
struct Catch {
    via: Via,
}

impl Measured for Catch {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Catch { via: Via::ALL })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.via {
            Via::Kill => Profile::Standard,
            Via::Tgkill => Profile::Quick,
        }
    }

    fn proofs(&self) -> CatchProofs<Proof> {
        CatchProofs {
            via: Proof::counted([calls(match self.via {
                Via::Kill => Sysno::KILL,
                Via::Tgkill => Sysno::TGKILL,
            })]),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let ids = Ids::learn()?;
        let _restore = Handler::install(SIGNAL, count)?;
        let before = RUNS.load(Relaxed);
        let signal = SIGNAL as usize;
        // SAFETY, of both: the signal goes only to this process or thread, and its handler only counts.
        let mut outcome = match self.via {
            Via::Kill => plan.measure(Loop::each(|| {
                // SAFETY: see above.
                checked(unsafe { syscall2(Sysno::KILL, ids.process(), signal) })
            })),
            Via::Tgkill => plan.measure(Loop::each(|| {
                // SAFETY: see above.
                checked(unsafe { syscall3(Sysno::TGKILL, ids.process(), ids.thread(), signal) })
            })),
        }?;
        outcome.report(CAUGHT, (RUNS.load(Relaxed) - before) as f64);
        Ok(outcome)
    }
}
