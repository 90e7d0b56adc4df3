//! Latencies of reads, in bins that a process can pass on.

use syscost_results::stats::order;

/// Bins per power of two, so that a bin is at most a fifth wide.
const BINS: usize = 4;

/// Number of powers of two, in ns: up to 2^40, twenty minutes.
const POWERS: usize = 40;

/// A histogram of times with four bins per power of two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Latency([u32; BINS * POWERS]);

impl Default for Latency {
    fn default() -> Self {
        Self([0; BINS * POWERS])
    }
}

impl Latency {
    /// Adds a read that took this long.
    pub(super) fn record(&mut self, ns: f64) {
        let bin = (BINS as f64 * ns.max(1.0).log2()) as usize;
        let bin = &mut self.0[bin.min(BINS * POWERS - 1)];
        *bin = bin.saturating_add(1);
    }

    /// Adds the times of another histogram.
    pub(super) fn add(&mut self, other: &Latency) {
        for (bin, more) in self.0.iter_mut().zip(other.0) {
            *bin = bin.saturating_add(more);
        }
    }

    /// The time that this share of the reads did not exceed, in ns: the middle of its bin.
    pub(super) fn quantile(&self, share: f64) -> Option<f64> {
        let middle = |bin: usize| 2_f64.powf((bin as f64 + 0.5) / BINS as f64);
        let counts = self.0.iter().enumerate();
        let bins: Vec<(f64, u64)> = counts
            .map(|(bin, count)| (middle(bin), u64::from(*count)))
            .collect();
        order::nearest_rank_of_bins(&bins, share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_near_the_times() {
        let mut latency = Latency::default();
        assert_eq!(latency.quantile(0.5), None);
        for number in 1..=1000 {
            latency.record(1000.0 * f64::from(number));
        }
        for (share, ns) in [(0.5, 5e5), (0.99, 9.9e5)] {
            let found = latency.quantile(share).unwrap();
            assert!((found / ns - 1.0).abs() < 0.1, "{found} for {ns}");
        }
        let mut twice = latency;
        twice.add(&latency);
        assert_eq!(twice.quantile(0.5), latency.quantile(0.5));
        latency.record(0.0);
        latency.record(f64::MAX);
    }
}
