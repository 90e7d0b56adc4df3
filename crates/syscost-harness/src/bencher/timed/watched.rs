//! Iterations between probes of the cores of both ends.

use crate::bencher::Plan;
use crate::bencher::body::Body;
use crate::failure::Failure;

impl Plan<'_> {
    /// Waits for the core to be ours, and times iterations between probes of the core of the task
    /// that works with this one on another machine.
    pub(in crate::bencher) fn time_watched(
        &mut self,
        body: &mut (impl Body + ?Sized),
        iterations: u64,
        warm_up: u64,
    ) -> Result<f64, Failure> {
        self.take_seen();
        // Before that wait: an answer takes time, in which our own core may become shared again.
        let patience_ns = self.given.effort.patience_ns;
        if let Some(core_probes) = &mut self.core_probes {
            core_probes.wait_far(patience_ns, || body.far_core_is_exclusive())?;
        }
        self.wait_before_sample();
        let ns = self.time_warm(body, iterations, warm_up)?;
        if let Some(core_probes) = &mut self.core_probes
            && let Some(is_exclusive) = body.far_core_is_exclusive()?
        {
            core_probes.note_far_after(is_exclusive);
        }
        Ok(ns)
    }
}
