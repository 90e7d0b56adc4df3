//! What one CPU showed in the last minutes.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use syscost_results::run::Noise;
use syscost_sys::core_probe::{LongChain, Probe};
use syscost_sys::counters::CpuTimes;

use crate::cores::Heard;

/// How far back figures reach: long enough for some hundred probes of each CPU of a small machine,
/// short enough to see a neighbour come and go.
pub const WINDOW: Duration = Duration::from_secs(300);

/// The probes of one CPU, and the uses of its time, oldest first.
#[derive(Debug, Default)]
pub(super) struct Window {
    probes: VecDeque<(Instant, LongChain)>,
    times: VecDeque<(Instant, CpuTimes)>,
}

impl Window {
    /// Adds a probe, with the longer chain after it.
    pub(super) fn add(&mut self, when: Instant, probe: LongChain) {
        self.probes.push_back((when, probe));
    }

    /// Adds the uses of the CPU's time since the machine started.
    pub(super) fn add_times(&mut self, when: Instant, times: CpuTimes) {
        self.times.push_back((when, times));
    }

    /// Forgets what is older than the window.
    pub(super) fn forget_before(&mut self, now: Instant) {
        let is_old = |when: Instant| now.duration_since(when) > WINDOW;
        while self.probes.front().is_some_and(|(when, _)| is_old(*when)) {
            self.probes.pop_front();
        }
        while self.times.front().is_some_and(|(when, _)| is_old(*when)) {
            self.times.pop_front();
        }
    }

    /// Share of the window in which the hypervisor gave the CPU to another machine, 0 to 1; `None`
    /// before two readings.
    pub(super) fn steal(&self) -> Option<f64> {
        let ((from, first), (to, last)) = self.times.front().zip(self.times.back())?;
        (from < to).then(|| (*last - *first).steal_share())
    }

    /// The probes, as what listening to this CPU showed.
    pub(super) fn heard(&self, cpu: u32, probe: Probe) -> Heard {
        let probes = || self.probes.iter().map(|(_, probe)| *probe);
        Heard {
            noise: Noise {
                cpu,
                ..Noise::default()
            },
            readings: probes().map(|probe| probe.around[0]).collect(),
            long_chains: probes().collect(),
            probe,
        }
    }
}

#[cfg(test)]
mod tests {
    use syscost_sys::clock::Clock;
    use syscost_sys::core_probe::ProbeReading;

    use super::*;

    #[test]
    fn what_is_older_is_forgotten() {
        let mut window = Window::default();
        let begun = Instant::now();
        let reading = |throughput| ProbeReading {
            throughput,
            chain: 1000,
        };
        for second in 0..400 {
            let when = begun + Duration::from_secs(second);
            let around = [reading(second as u32), reading(0)];
            window.add(when, LongChain { around, ticks: 1 });
            let times = CpuTimes {
                // The hypervisor takes the second half of each second, at first.
                idle: if second < 200 {
                    50 * second
                } else {
                    100 * second - 10_000
                },
                steal: if second < 200 { 50 * second } else { 10_000 },
                ..CpuTimes::default()
            };
            window.add_times(when, times);
        }
        window.forget_before(begun + Duration::from_secs(400));
        let heard = window.heard(3, Probe::new(Clock::system(), 1));
        assert_eq!(heard.noise.cpu, 3);
        assert_eq!(heard.readings.len(), 300);
        assert_eq!(heard.readings[0], reading(100));
        // 99 or 100 of 299 seconds at half.
        let steal = window.steal().expect("two readings");
        assert!((steal - 50.0 / 299.0).abs() < 0.002, "{steal}");
        window.forget_before(begun + Duration::from_secs(1000));
        assert_eq!(window.steal(), None);
        assert!(window.heard(3, heard.probe).readings.is_empty());
    }
}
