//! Listening to a processor: time missing between readings of a clock went to something else.
//!
//! The method of hwlat and osnoise, from user space.

/// Gaps longer than this, in ns, are also counted separately: osnoise's default threshold.
pub const LONG_GAP_NS: f64 = 5_000.0;

/// What a loop that only reads the clock has missed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Gaps {
    /// From the first reading to the last, in ns.
    pub spent_ns: f64,
    /// Sum of all gaps that count as lost time, in ns.
    pub lost_ns: f64,
    /// How many gaps count as lost time.
    pub lost: u64,
    /// The longest gap, in ns, whether it counts as lost or not.
    pub longest_ns: f64,
    /// How many gaps are longer than [`LONG_GAP_NS`].
    pub long: u64,
    /// How often the clock was read after the first reading.
    pub readings: u64,
}

impl Gaps {
    /// Reads a clock of this rate for `window_ns`; a gap longer than `lost_ns` is lost time.
    pub fn listen(
        ticks_per_ns: f64,
        window_ns: f64,
        lost_ns: f64,
        mut read: impl FnMut() -> u64,
    ) -> Self {
        let [window, shortest, long] =
            [window_ns, lost_ns, LONG_GAP_NS].map(|ns| (ns * ticks_per_ns) as u64);
        let (mut lost_ticks, mut longest) = (0, 0);
        let mut gaps = Gaps::default();
        let first = read();
        let mut last = first;
        while last - first < window {
            let now = read();
            let gap = now.saturating_sub(last);
            if gap > shortest {
                lost_ticks += gap;
                gaps.lost += 1;
                gaps.long += u64::from(gap > long);
            }
            longest = longest.max(gap);
            gaps.readings += 1;
            last = last.max(now);
        }
        let ns = |ticks: u64| ticks as f64 / ticks_per_ns;
        gaps.spent_ns = ns(last - first);
        gaps.lost_ns = ns(lost_ticks);
        gaps.longest_ns = ns(longest);
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_distinguished_by_length() {
        // 20 ticks per reading at 2 ticks per ns, but every 1000th takes 2 us more, every 10000th 6 us more.
        let (mut now, mut reads) = (0, 0_u64);
        let gaps = Gaps::listen(2.0, 10e6, 1_000.0, || {
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
        assert_eq!((gaps.lost, gaps.readings), (reads / 1_000, reads - 1));
        assert_eq!(gaps.long, reads / 10_000);
        assert_eq!(gaps.longest_ns, 6_010.0);
        let share = gaps.lost_ns / gaps.spent_ns;
        // Ten gaps of 24.1 us in all to every 124 us.
        assert!((share - 24.1 / 124.0).abs() < 0.01, "{share}");
    }
}
