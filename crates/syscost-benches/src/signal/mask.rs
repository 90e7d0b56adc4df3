//! Querying and changing the set of blocked signals.
//!
//! ## Measures
//! `query`: one rt_sigprocmask call that changes nothing. `block_unblock`: two calls, one that
//! blocks a signal and one that unblocks it, as around a critical section.
//! ## Does not measure
//! Signals that become pending meanwhile: there are none.
//! ## Interpretation
//! A change takes the lock of the process's signals and looks for pending ones; a query does not.
//! ## Source
//! sigprocmask(2); libMicro's signal calls.
#![allow(unsafe_code)] // a raw system call

use syscost_harness::prelude::*;
use syscost_sys::raw::syscall4;

use super::own::{Blocked, SET_BYTES, change_mask, set_of};
use crate::syscall::{Bad, checked, must};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Signal mask: query, block and unblock",
    tags: "sigprocmask, rt_sigprocmask",
    ..Benchmark::of::<Mask>()
};

/// The set that is blocked and unblocked.
const SIGNAL: u64 = set_of(libc::SIGUSR1);

/// What is done with the set of blocked signals.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Query,
    BlockUnblock,
}

#[derive(Params, Clone)]
struct Mask {
    op: Op,
}

impl Measured for Mask {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(Mask { op: Op::ALL })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.op {
            Op::Query => Profile::Standard,
            Op::BlockUnblock => Profile::Quick,
        }
    }

    fn proofs(&self) -> MaskProofs<Proof> {
        let count = match self.op {
            Op::Query => 1.0,
            Op::BlockUnblock => 2.0,
        };
        MaskProofs {
            op: Proof::counted([exactly(Counter::Syscall(Sysno::RT_SIGPROCMASK), count)]),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        if self.op == Op::Query {
            let _restore = Blocked::one(libc::SIGUSR1)?;
            let mut mask: u64 = 0;
            let place = (&raw mut mask).expose_provenance();
            return plan.measure(Loop::each(|| -> Result<(), Bad> {
                // SAFETY: the kernel writes a set of the given size to `mask`, which outlives the call.
                checked(unsafe { syscall4(Sysno::RT_SIGPROCMASK, 0, 0, place, SET_BYTES) })?;
                // SAFETY: `place` is the address of `mask`.
                must(unsafe { (place as *const u64).read_volatile() } & SIGNAL != 0)
            }));
        }
        plan.measure(Loop::each(|| -> Result<(), Bad> {
            let before = change_mask(libc::SIG_BLOCK, SIGNAL)?;
            let between = change_mask(libc::SIG_UNBLOCK, SIGNAL)?;
            must(before & SIGNAL == 0 && between & SIGNAL != 0)
        }))
    }
}
