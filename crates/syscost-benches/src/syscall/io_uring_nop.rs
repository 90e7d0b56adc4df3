//! Handing operations that do nothing to the kernel through io_uring.
//!
//! ## Measures
//! One IORING_OP_NOP: written to the submission ring, taken from there by the kernel, completed,
//! and read from the completion ring. 1, 8 or 64 of them go in with one io_uring_enter call. No
//! polling thread in the kernel.
//! ## Does not measure
//! Input or output, and setting up the ring.
//! ## Interpretation
//! The cost is per operation: an enter call shared by `batch`, and what each operation costs by
//! itself. `batch=1` against `syscall.null` shows what the ring adds; `batch=64` comes close to an
//! operation without a system call.
//! ## Source
//! io_uring(7); no published experiment.
#![allow(unsafe_code)] // pushing to the submission ring

use io_uring::{IoUring, opcode};
use syscost_harness::prelude::*;

pub(super) const BENCHMARK: Benchmark = Benchmark {
    title: "io_uring no-op",
    tags: "asynchronous i/o, submission queue, system call batching",
    expect: &[exactly(Counter::Reported(COMPLETIONS), 1.0)],
    ..Benchmark::of::<IoUringNop>()
};

const COMPLETIONS: &str = "successful completions";

#[derive(Params, Clone)]
struct IoUringNop {
    /// Operations that one call submits.
    batch: u64,
}

impl Measured for IoUringNop {
    fn rows(_: &Testbed) -> Vec<Case<Self>> {
        rows!(IoUringNop { batch: [1, 8, 64] })
    }

    fn profile(&self, _: &Testbed) -> Profile {
        match self.batch {
            ..=1 => Profile::Quick,
            2..=8 => Profile::Full,
            9.. => Profile::Standard,
        }
    }

    fn proofs(&self) -> IoUringNopProofs<Proof> {
        let enters = 1.0 / self.batch as f64;
        IoUringNopProofs {
            batch: Proof::counted([exactly(Counter::Syscall(Sysno::IO_URING_ENTER), enters)]),
        }
    }

    fn measure(self, plan: Plan) -> Result<Outcome, Failure> {
        let batch = self.batch;
        let mut ring = IoUring::new(64).map_err(|error| {
            Failure::Unsupported(format!(
                "the kernel, or a seccomp filter in its place, gives no io_uring ({error})"
            ))
        })?;
        let mut completed: u64 = 0;
        let mut outcome = plan.measure(Loop::batches(batch, |iterations| {
            for _ in 0..iterations {
                let mut submission = ring.submission();
                for number in 0..batch {
                    let nop = opcode::Nop::new().build().user_data(number);
                    // SAFETY: a no-op refers to no memory.
                    unsafe { submission.push(&nop) }.tried("submit")?;
                }
                drop(submission);
                ring.submit_and_wait(batch as usize)
                    .tried("io_uring_enter")?;
                // They complete in the order of submission, each with its own number.
                let due = ring
                    .completion()
                    .zip(0..batch)
                    .filter(|(done, number)| done.result() == 0 && done.user_data() == *number);
                let good = due.count() as u64;
                if good != batch {
                    return Err(Failure::Failed(format!(
                        "{good} of {batch} no-ops completed"
                    )));
                }
                completed += good;
            }
            Ok(())
        }))?;
        outcome.report(COMPLETIONS, completed as f64);
        Ok(outcome)
    }
}
