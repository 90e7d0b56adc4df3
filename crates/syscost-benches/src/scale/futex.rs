//! One futex that many CPUs call simultaneously, without ever sleeping on it.
//!
//! ## Measures
//! How many calls per second all copies make on one word. `wake`: FUTEX_WAKE without waiters.
//! `wait`: FUTEX_WAIT for a value that the word does not have, which the kernel refuses (EAGAIN).
//! Threads call the private kind, processes the one for shared memory.
//! ## Does not measure
//! Sleeping and waking: `switch.futex`; a contended lock: `sync.mutex`.
//! ## Interpretation
//! All copies use the same bucket of the kernel's futex hash table. `wait` locks it before it
//! compares, so its copies queue; `wake` only checks whether there are waiters, and for processes
//! counts itself in and out of the page that holds the word. What is slow here is slow for any two
//! programs whose futexes happen to share a bucket. The first copy runs on the measured CPU, the
//! others as in `scale.syscall`.
//! ## Source
//! will-it-scale `futex1`; `perf bench futex hash`.

use std::sync::atomic::AtomicU32;

use rustix::io::Errno;
use rustix::thread::futex::{Flags, wait, wake};
use syscost_harness::prelude::*;

use super::copies;
use crate::syscall::{Bad, must};

/// Value of the word that nobody changes: a call that expects another one returns at once.
const VALUE: u32 = 0;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "Futex throughput on many CPUs, one word",
    tags: "scalability, kernel scalability, hash bucket, lock contention, will-it-scale, \
        perf bench futex hash",
    unit: Unit::OperationsPerSecond,
    better: Better::Higher,
    expect: &[calls(Sysno::FUTEX)],
    ..Benchmark::of::<ScaleFutex>()
};

const OPERATION: Argument = Argument::at(1, "operation");

/// The operation on the futex.
#[derive(Value, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Wake,
    Wait,
}

#[derive(Params, Clone)]
pub(super) struct ScaleFutex {
    pub(super) op: Op,
    /// What the copies are: processes or threads.
    pub(super) r#as: Between,
    pub(super) copies: Copies,
}

impl Measured for ScaleFutex {
    const DEPENDS_ON_MACHINE: bool = true;

    fn rows(here: &Testbed) -> Vec<Case<Self>> {
        rows!(ScaleFutex {
            op: Op::ALL,
            r#as: Between::ALL,
            copies: copies::copies(here)
        })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match (self.op, self.r#as) {
            (Op::Wake, Between::Processes) => Profile::Standard,
            (Op::Wait, _) | (_, Between::Threads) => Profile::Full,
        }
    }

    fn proofs(&self) -> ScaleFutexProofs<Proof> {
        // Threads call the private kind.
        let operation = match self.op {
            Op::Wait => libc::FUTEX_WAIT,
            Op::Wake => libc::FUTEX_WAKE,
        };
        let private = match self.r#as {
            Between::Threads => libc::FUTEX_PRIVATE_FLAG,
            Between::Processes => 0,
        };
        let given = ArgumentValue::Always((operation | private) as u64);
        ScaleFutexProofs {
            op: Proof::argument(Sysno::FUTEX, OPERATION, given),
            r#as: Proof::by_tasks(),
            copies: Proof::by_tasks(),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let word = Shared::new(AtomicU32::new(VALUE))?;
        let flags = match self.r#as {
            Between::Threads => Flags::PRIVATE,
            Between::Processes => Flags::empty(),
        };
        let wakes = self.op == Op::Wake;
        copies::measure(plan, self.r#as, self.copies, move |_| {
            let word = word.clone();
            Ok(move || -> Result<(), Bad> {
                if wakes {
                    return must(wake(&word, flags, 1)? == 0);
                }
                must(wait(&word, flags, VALUE + 1, None) == Err(Errno::AGAIN))
            })
        })
    }
}
