//! Shared: the parts of published procedures: their clocks, their statistics, where they ran.

use rustix::time::{ClockId, clock_gettime};
use syscost_harness::prelude::*;
use syscost_results::stats::order;
use syscost_sys::cpu;

/// Number of pairs of readings from which the cost of a timer is taken.
const TIMER_PAIRS: u32 = 1001;

/// A reading of a clock through the C library's interface, in ns.
pub(super) fn now_ns(clock: ClockId) -> f64 {
    let now = clock_gettime(clock);
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

/// The median difference of two consecutive readings, in ns.
pub(super) fn timer_ns(clock: ClockId) -> f64 {
    let pairs = (0..TIMER_PAIRS).map(|_| {
        let begun = now_ns(clock);
        now_ns(clock) - begun
    });
    median(&pairs.collect::<Vec<f64>>())
}

/// The median; NaN if there are no values.
pub(super) fn median(values: &[f64]) -> f64 {
    order::median(values).unwrap_or(f64::NAN)
}

/// Rounded to this many decimals, as results were printed.
pub(super) fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (value * scale).round() / scale
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_rounded_as_printed() {
        assert_eq!([rounded(0.749, 1), rounded(1637.16, 1)], [0.7, 1637.2]);
    }

    #[test]
    fn a_timer_costs_something() {
        let ns = timer_ns(ClockId::Monotonic);
        assert!((0.0..1e6).contains(&ns), "{ns}");
    }
}
