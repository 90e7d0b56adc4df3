//! The noise probe: what the machine does to a program that only reads the clock.
//!
//! The method of hwlat and osnoise, from user space: a pinned loop reads the clock and notes every gap that is longer
//! than a reading can explain. In a virtual machine the host's interference shows up here as well.

use std::thread;
use std::time::Duration;

use syscost_results::run::Noise;
use syscost_sys::clock::{Clock, Source};
use syscost_sys::cpu;

/// A gap longer than this counts, in ns: osnoise's default threshold.
const GAP_NS: f64 = 5_000.0;

/// Probes these CPUs, all at once, for so long. The rate need only be roughly right.
pub fn probe(cpus: &[u32], source: Source, ticks_per_ns: f64, time: Duration) -> Vec<Noise> {
    thread::scope(|scope| {
        let probes: Vec<_> = cpus
            .iter()
            .map(|&number| scope.spawn(move || probe_one(number, source, ticks_per_ns, time)))
            .collect();
        probes
            .into_iter()
            .filter_map(|probe| probe.join().ok().flatten())
            .collect()
    })
}

fn probe_one(number: u32, source: Source, ticks_per_ns: f64, time: Duration) -> Option<Noise> {
    cpu::pin(number).ok()?;
    let clock = Clock::new(source, ticks_per_ns).ok()?;
    let gap_ticks = (GAP_NS * ticks_per_ns) as u64;
    let length_ticks = (time.as_nanos() as f64 * ticks_per_ns) as u64;
    let (mut lost, mut longest, mut gaps) = (0, 0, 0);
    let first = clock.start();
    let mut last = first;
    while last - first < length_ticks {
        let now = clock.start();
        let gap = now.saturating_sub(last);
        if gap > gap_ticks {
            lost += gap;
            longest = longest.max(gap);
            gaps += 1;
        }
        last = now.max(last);
    }
    let spent = (last - first).max(1);
    Some(Noise {
        cpu: number,
        probe_s: clock.to_ns(spent) / 1e9,
        lost_percent: 100.0 * lost as f64 / spent as f64,
        longest_gap_us: clock.to_ns(longest) / 1e3,
        gaps_over_5us: gaps,
        used: false,
    })
}

/// The quietest of the probed CPUs: the one that lost least time. CPU 0, which serves most interrupts, loses a tie.
pub fn quietest(noise: &[Noise]) -> Option<u32> {
    noise
        .iter()
        .min_by(|a, b| {
            a.lost_percent
                .total_cmp(&b.lost_percent)
                .then(b.cpu.cmp(&a.cpu))
        })
        .map(|quiet| quiet.cpu)
}
