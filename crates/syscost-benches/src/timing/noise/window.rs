//! One window of listening to a processor.

use syscost_harness::prelude::*;
use syscost_sys::clock::{Clock, Gaps};
use syscost_sys::counters::Usage;
use syscost_sys::cpu;

const WINDOW_NS: f64 = 10e6;

/// Minimum length of a gap that is lost time, in ns: tens of readings fit into it.
pub(super) const LOST_NS: f64 = 1_000.0;

/// What was observed in one window.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) gaps: Gaps,
    /// Switches that the kernel counted beyond the gaps that were seen.
    pub(super) unseen_switches: u64,
    pub(super) ran_on: u32,
}

impl Window {
    /// Listens from the calling thread, which is pinned for it.
    pub(super) fn listen(clock: &Clock, number: u32) -> Result<Self, Failure> {
        cpu::pin(number).map_err(|error| Failure::Unsupported(error.to_string()))?;
        let before = Usage::thread()?;
        let gaps = Gaps::listen(clock.ticks_per_ns(), WINDOW_NS, LOST_NS, || clock.start());
        let used = Usage::thread()? - before;
        let switches = used.voluntary_switches + used.involuntary_switches;
        Ok(Self {
            gaps,
            unseen_switches: switches.saturating_sub(gaps.lost),
            ran_on: cpu::current(),
        })
    }
}

/// The share of these windows that was lost, in percent.
pub(super) fn lost_percent<'w>(windows: impl IntoIterator<Item = &'w Window>) -> f64 {
    let (lost, spent) = (windows.into_iter()).fold((0.0, 0.0), |(lost, spent), window| {
        (lost + window.gaps.lost_ns, spent + window.gaps.spent_ns)
    });
    100.0 * lost / spent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_was_lost_counts() {
        // Three gaps are lost: of 2, 5 and 4 µs.
        let mut ticks = [0, 2_000, 2_010, 7_010, 11_010, 11_110].into_iter();
        let gaps = Gaps::listen(1.0, 11_100.0, LOST_NS, || ticks.next().expect("one more"));
        let window = Window {
            gaps,
            unseen_switches: 0,
            ran_on: 0,
        };
        assert_eq!(lost_percent([&window]), 100.0 * 11_000.0 / 11_110.0);
        assert_eq!(lost_percent([&window, &window]), lost_percent([&window]));
    }
}
