//! One window of probes of a processor's core.

use syscost_harness::prelude::*;
use syscost_results::stats::order::median;
use syscost_sys::clock::Clock;
use syscost_sys::core_probe::{Alone, Probe, ProbeReading};
use syscost_sys::cpu;

const WINDOW_NS: f64 = 20e6;

/// Maximum slowdown of independent instructions by the SMT sibling: a longer probe was interrupted, and
/// shows nothing about the core.
const MAX_SLOWDOWN: f64 = 4.0;

/// A ratio below this share of an unshared core's comes from an interrupted chain.
const MIN_RATIO: f64 = 0.9;

/// Readings of a slowed probe after each window.
const SLOWED_PROBES: u32 = 200;

/// Minimum number of probes of either kind for a comparison of the two.
const MIN_LOOKS: usize = 50;

/// What was observed in one window.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// Time in probes that found the core unshared, and shared, in ns.
    own_ns: f64,
    shared_ns: f64,
    /// Whether the core was unshared, and for how long, in us, stretch after stretch.
    stretches: Vec<(bool, f64)>,
    /// How much longer independent instructions took at each probe that found the core shared, in
    /// percent.
    pub(super) slowdowns: Vec<f64>,
    /// Share of the window spent in conclusive probes, in percent.
    pub(super) probing_percent: f64,
    /// Dependent instructions on the shared core relative to those on an unshared one; `None`
    /// without enough of either.
    pub(super) chain_ratio: Option<f64>,
    /// Share of the deliberately slowed probes that find the core shared, in percent.
    pub(super) slowed_seen_percent: f64,
    pub(super) ran_on: u32,
}

impl Window {
    /// Probes from the calling thread, which is pinned for it.
    pub(super) fn take(
        clock: &Clock,
        probe: &Probe,
        alone: &Alone,
        number: u32,
    ) -> Result<Self, Failure> {
        cpu::pin(number).map_err(|error| Failure::Unsupported(error.to_string()))?;
        let first = clock.start();
        let mut readings = Vec::new();
        let mut now = first;
        while clock.to_ns(now.saturating_sub(first)) < WINDOW_NS {
            let reading = probe.read();
            let after = clock.stop().ticks;
            readings.push((reading, clock.to_ns(after.saturating_sub(now))));
            now = after;
        }
        let slowed = probe.slowed(2);
        let seen = (0..SLOWED_PROBES).filter(|_| !alone.holds(&slowed.read()));
        Ok(Self {
            slowed_seen_percent: 100.0 * seen.count() as f64 / f64::from(SLOWED_PROBES),
            ran_on: cpu::current(),
            ..Self::of(&readings, alone)
        })
    }

    /// The results of probes, each with the time it took, in ns.
    fn of(readings: &[(ProbeReading, f64)], alone: &Alone) -> Self {
        let mut window = Self::default();
        let mut chains = [Vec::new(), Vec::new()];
        let all_ns: f64 = readings.iter().map(|(_, ns)| ns).sum();
        for (reading, ns) in readings {
            let times = reading.ratio().map(|ratio| ratio / alone.ratio);
            let Some(times) = times.filter(|times| (MIN_RATIO..MAX_SLOWDOWN).contains(times))
            else {
                continue;
            };
            let is_exclusive = alone.holds(reading);
            chains[usize::from(is_exclusive)].push(f64::from(reading.chain));
            if is_exclusive {
                window.own_ns += ns;
            } else {
                window.shared_ns += ns;
                window.slowdowns.push(100.0 * (times - 1.0));
            }
            match window.stretches.last_mut() {
                Some((kind, us)) if *kind == is_exclusive => *us += ns / 1e3,
                _ => window.stretches.push((is_exclusive, ns / 1e3)),
            }
        }
        window.probing_percent = 100.0 * (window.own_ns + window.shared_ns) / all_ns.max(1.0);
        let [shared, own] = &chains;
        window.chain_ratio = median(shared)
            .zip(median(own))
            .filter(|_| shared.len().min(own.len()) >= MIN_LOOKS)
            .map(|(shared, own)| shared / own);
        window
    }

    /// Share of the time spent probing in which the core was shared, in percent.
    pub(super) fn shared_percent(&self) -> Result<f64, Failure> {
        let all = self.own_ns + self.shared_ns;
        (all > 0.0)
            .then(|| 100.0 * self.shared_ns / all)
            .ok_or_else(|| Failure::Failed("no probe of the core was left undisturbed".into()))
    }

    /// Durations of the stretches in which the core was unshared, or shared, in us.
    pub(super) fn stretches_us(&self, is_exclusive: bool) -> impl Iterator<Item = f64> {
        let stretches = self.stretches.iter();
        stretches.filter_map(move |(kind, us)| (*kind == is_exclusive).then_some(*us))
    }
}

/// The stretch that contains the middle of the time: half of all the time is in stretches of at
/// least this length.
pub(super) fn long_stretch(stretches: &[f64]) -> Option<f64> {
    let mut sorted = stretches.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let half = sorted.iter().sum::<f64>() / 2.0;
    let mut passed = 0.0;
    sorted.into_iter().find(|stretch| {
        passed += stretch;
        passed >= half
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALONE: Alone = Alone {
        ratio: 0.84,
        limit: 0.86,
    };

    fn reading(ratio: f64, chain: u32) -> (ProbeReading, f64) {
        let throughput = (ratio * f64::from(chain)) as u32;
        (ProbeReading { throughput, chain }, 1_000.0)
    }

    #[test]
    fn looks_are_distinguished_and_make_stretches() {
        let mut readings = vec![reading(0.84, 1000); 300];
        readings.extend(vec![reading(1.26, 1010); 100]);
        readings.extend(vec![reading(0.845, 1000); 100]);
        // An interrupt in either burst.
        readings.insert(50, reading(9.0, 1000));
        readings.insert(350, reading(0.2, 5000));
        let window = Window::of(&readings, &ALONE);
        assert_eq!(window.shared_percent().ok(), Some(20.0));
        assert_eq!(
            window.stretches_us(true).collect::<Vec<_>>(),
            [300.0, 100.0]
        );
        assert_eq!(window.stretches_us(false).collect::<Vec<_>>(), [100.0]);
        assert!(
            window
                .slowdowns
                .iter()
                .all(|slow| (slow - 50.0).abs() < 0.2)
        );
        assert!((window.probing_percent - 100.0 * 500.0 / 502.0).abs() < 1e-9);
        assert_eq!(window.chain_ratio, Some(1.01));
    }

    #[test]
    fn a_core_that_is_only_ours_has_nothing_to_compare() {
        let window = Window::of(&[reading(0.84, 1000); 300], &ALONE);
        assert_eq!(window.shared_percent().ok(), Some(0.0));
        assert_eq!((window.chain_ratio, window.slowdowns.len()), (None, 0));
        assert!(Window::of(&[], &ALONE).shared_percent().is_err());
    }

    #[test]
    fn half_of_the_time_lies_in_long_stretches() {
        let mut stretches = vec![1.0; 100];
        stretches.extend([80.0, 90.0]);
        assert_eq!(long_stretch(&stretches), Some(80.0));
        assert_eq!(long_stretch(&[]), None);
    }
}
