//! The noise probe: what the machine does to a program that only reads the clock.
//!
//! The method of hwlat and osnoise, from user space: a pinned loop reads the clock and notes every gap that is longer
//! than a reading can explain. In a virtual machine the host's interference shows up here as well.

use std::thread;
use std::time::Duration;

use syscost_results::run::Noise;
use syscost_sys::clock::{Clock, Gaps, LONG_GAP_NS, Source};
use syscost_sys::cpu;

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
    let length_ns = time.as_nanos() as f64;
    let gaps = Gaps::listen(ticks_per_ns, length_ns, LONG_GAP_NS, || clock.start());
    Some(Noise {
        cpu: number,
        probe_s: gaps.spent_ns / 1e9,
        lost_percent: 100.0 * gaps.lost_ns / gaps.spent_ns.max(1.0),
        longest_gap_us: gaps.longest_ns / 1e3,
        gaps_over_5us: gaps.long,
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
