//! One window of listening to a processor.

use syscost_harness::prelude::*;
use syscost_sys::clock::Clock;
use syscost_sys::counters::Usage;
use syscost_sys::cpu;

const WINDOW_NS: f64 = 10e6;

/// A longer gap is lost time: tens of readings fit into it.
pub(super) const LOST_NS: f64 = 1_000.0;

/// A longer gap is counted: osnoise's default threshold.
const GAP_NS: f64 = 5_000.0;

/// What one window showed.
#[derive(Debug, Default)]
pub(super) struct Window {
    pub(super) spent_ns: f64,
    pub(super) lost_ns: f64,
    pub(super) longest_ns: f64,
    pub(super) gaps_over_5us: u64,
    pub(super) readings: u64,
    /// Switches that the kernel counted beyond the gaps that were seen.
    pub(super) unseen_switches: u64,
    pub(super) ran_on: u32,
}

impl Window {
    /// Listens from the calling thread, which is pinned for it.
    pub(super) fn listen(clock: &Clock, number: u32) -> Result<Self, Failure> {
        cpu::pin(number).map_err(|error| Failure::Unsupported(error.to_string()))?;
        let before = Usage::thread()?;
        let (mut window, gaps) = Self::watch(clock.ticks_per_ns(), || clock.start());
        let used = Usage::thread()? - before;
        let switches = used.voluntary_switches + used.involuntary_switches;
        window.unseen_switches = switches.saturating_sub(gaps);
        window.ran_on = cpu::current().map_err(|error| Failure::Failed(error.to_string()))?;
        Ok(window)
    }

    /// Reads for one window; returns also the number of gaps that count as lost.
    fn watch(ticks_per_ns: f64, mut read: impl FnMut() -> u64) -> (Self, u64) {
        let [window, lost, counted] =
            [WINDOW_NS, LOST_NS, GAP_NS].map(|ns| (ns * ticks_per_ns) as u64);
        let (mut lost_ticks, mut longest, mut gaps, mut long_gaps, mut readings) = (0, 0, 0, 0, 0);
        let first = read();
        let mut last = first;
        while last - first < window {
            let now = read();
            let gap = now.saturating_sub(last);
            if gap > lost {
                lost_ticks += gap;
                gaps += 1;
                long_gaps += u64::from(gap > counted);
            }
            longest = longest.max(gap);
            readings += 1;
            last = last.max(now);
        }
        let ns = |ticks: u64| ticks as f64 / ticks_per_ns;
        let seen = Self {
            spent_ns: ns(last - first),
            lost_ns: ns(lost_ticks),
            longest_ns: ns(longest),
            gaps_over_5us: long_gaps,
            readings,
            ..Self::default()
        };
        (seen, gaps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_told_apart_by_length() {
        // 20 ticks a reading at 2 ticks a ns, but every 1000th takes 2 us more, every 10000th 6 us more.
        let (mut now, mut reads) = (0, 0_u64);
        let (window, gaps) = Window::watch(2.0, || {
            reads += 1;
            now += 20;
            now += if reads.is_multiple_of(10_000) {
                12_000
            } else if reads.is_multiple_of(1_000) {
                4_000
            } else {
                0
            };
            now
        });
        assert_eq!((gaps, window.readings), (reads / 1_000, reads - 1));
        assert_eq!(window.gaps_over_5us, reads / 10_000);
        assert_eq!(window.longest_ns, 6_010.0);
        let share = window.lost_ns / window.spent_ns;
        // Ten gaps of 24.1 us in all to every 124 us.
        assert!((share - 24.1 / 124.0).abs() < 0.01, "{share}");
    }
}
