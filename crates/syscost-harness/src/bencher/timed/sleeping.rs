//! What sleeps on a CPU of its own runs alone for a while before its first sample.
//!
//! How long an idle CPU takes to wake depends on how long its sleeps were before: the kernel
//! chooses its idle state by them, and the host of a virtual machine keeps its processor busy only
//! while they are short (KVM's halt polling doubles and halves such a time with each sleep).
//! Waiting between samples until a core is ours, or a probe of the partner's core, would be such a
//! sleep, or end one. So the samples of such operations follow each other like those of a program
//! that does nothing else, and all of them count.

use super::Batch;
use crate::bencher::Plan;
use crate::bencher::body::Body;
use crate::failure::Failure;

/// How long the operation runs before the first sample: forty round trips of 50 µs, where six
/// sleeps take KVM's polling from nothing to its default maximum of 200 µs.
const WARM_UP_NS: f64 = 2e6;

/// Maximum number of operations that this takes.
const MAX_OPERATIONS: f64 = 1e5;

impl Plan<'_> {
    /// Runs an operation that sleeps, untimed, until its CPU is used to it. All samples are then
    /// taken without waiting for an undisturbed core in between. Nothing of it is counted.
    ///
    /// # Errors
    /// The operation's error.
    pub fn warm_up(&mut self, mut op: impl FnMut() -> Result<(), Failure>) -> Result<(), Failure> {
        self.is_uninterrupted = true;
        if !self.is_timed() {
            return Ok(());
        }
        self.wait_for_core();
        let one_ns = self.clocked(&mut op)?;
        (0..operations_lasting(one_ns)).try_for_each(|_| op())
    }

    /// Likewise with the iterations of a team, if these sleep on several CPUs.
    pub(in crate::bencher) fn warm_up_team(
        &mut self,
        batch: Batch,
        per_iteration: u64,
        body: &mut dyn Body,
    ) -> Result<(), Failure> {
        if !self.is_uninterrupted {
            return Ok(());
        }
        self.wait_for_core();
        let mut left = operations_lasting(batch.iteration_ns);
        while left > 0 {
            let iterations = left.min(body.max_iterations());
            body.warm_up(iterations)?;
            self.done.operations += iterations * per_iteration;
            left -= iterations;
        }
        Ok(())
    }
}

/// How many operations of this length fill the time.
fn operations_lasting(one_ns: f64) -> u64 {
    (WARM_UP_NS / one_ns.max(1.0)).clamp(1.0, MAX_OPERATIONS) as u64
}
