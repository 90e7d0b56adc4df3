//! Shared: the parts of published procedures: their clocks, their statistics, where they ran.

use syscost_harness::prelude::*;
use syscost_results::stats::order;
use syscost_sys::cpu;

/// The median; NaN if there are no values.
pub(super) fn median(values: &[f64]) -> f64 {
    order::median(values).unwrap_or(f64::NAN)
}

/// How often two tasks were on one CPU when checked.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OneCpu {
    asked: u32,
    together: u32,
}

impl OneCpu {
    /// Notes the CPUs of both.
    pub(super) fn note(&mut self, one: u32, other: u32) {
        self.asked += 1;
        self.together += u32::from(one == other);
    }

    /// How often they were on one CPU, in percent.
    pub(super) fn percent(&self) -> f64 {
        100.0 * f64::from(self.together) / f64::from(self.asked.max(1))
    }
}

/// The task and those it starts may run on all CPUs of the run until this is dropped, as if they were
/// never pinned.
pub(super) struct Unpinned {
    home: u32,
}

impl Unpinned {
    /// Lets the scheduler place this task.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(super) fn new(b: &Bencher) -> Result<Self, Failure> {
        cpu::pin_to(b.allowed()).map_err(|cause| Failure::Failed(cause.to_string()))?;
        Ok(Self { home: b.cpu() })
    }
}

impl Drop for Unpinned {
    fn drop(&mut self) {
        // If that fails, the following samples report that they have moved.
        let _ = cpu::pin(self.home);
    }
}
