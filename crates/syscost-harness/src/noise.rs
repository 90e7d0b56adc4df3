//! The noise probe: what the machine does to a program that only reads the clock and looks at its core.
//!
//! The method of hwlat and osnoise, from user space: a pinned loop reads the clock and notes every gap that is longer
//! than a reading can explain. In a virtual machine the host's interference shows up here as well. Between two readings it looks whether
//! the core works for somebody else, which makes no gap and takes more than all gaps together.

use std::thread;
use std::time::Duration;

use syscost_results::run::Noise;
use syscost_sys::clock::{Clock, Gaps, LONG_GAP_NS, Source};
use syscost_sys::cpu;
use syscost_sys::neighbour::Probe;

use crate::cores::Heard;

/// One look in so many is kept: more tell nothing new.
const KEPT: u64 = 4;

/// Looks kept of one CPU at most.
const MOST_LOOKS: usize = 1 << 18;

/// A share of time in which a core was ours that differs by less than this, in percent, is no reason to choose.
const ALIKE: f64 = 5.0;

/// Probes these CPUs, all at once, for so long. The rate need only be roughly right.
pub fn probe(cpus: &[u32], source: Source, ticks_per_ns: f64, time: Duration) -> Vec<Heard> {
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

fn probe_one(number: u32, source: Source, ticks_per_ns: f64, time: Duration) -> Option<Heard> {
    cpu::pin(number).ok()?;
    let clock = Clock::new(source, ticks_per_ns).ok()?;
    let length_ns = time.as_nanos() as f64;
    let probe = Probe::new(clock);
    let mut looks = Vec::with_capacity(MOST_LOOKS);
    let mut count: u64 = 0;
    let gaps = Gaps::listen(ticks_per_ns, length_ns, LONG_GAP_NS, || {
        if let Some(probe) = &probe {
            let look = probe.look();
            count += 1;
            if count.is_multiple_of(KEPT) && looks.len() < MOST_LOOKS {
                looks.push(look);
            }
        }
        clock.start()
    });
    Some(Heard {
        noise: Noise {
            cpu: number,
            probe_s: gaps.spent_ns / 1e9,
            lost_percent: 100.0 * gaps.lost_ns / gaps.spent_ns.max(1.0),
            longest_gap_us: gaps.longest_ns / 1e3,
            gaps_over_5us: gaps.long,
            ..Noise::default()
        },
        looks,
        chain_overhead: probe.map_or(0.0, |probe| probe.chain_overhead()),
        probe,
    })
}

/// The best of the probed CPUs: the one whose core was ours for most of the time; where nobody could look or there is little between them, the
/// one that lost least time. CPU 0, which serves most interrupts, loses a tie.
pub fn quietest(noise: &[Noise]) -> Option<u32> {
    let own = |one: &Noise| one.alone_percent.unwrap_or(100.0);
    let most = noise.iter().map(own).reduce(f64::max)?;
    noise
        .iter()
        .filter(|one| own(one) >= most - ALIKE)
        .min_by(|a, b| {
            a.lost_percent
                .total_cmp(&b.lost_percent)
                .then(b.cpu.cmp(&a.cpu))
        })
        .map(|quiet| quiet.cpu)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_that_is_ours_most_of_the_time_is_chosen() {
        let of = |cpu, alone_percent, lost_percent| Noise {
            cpu,
            alone_percent,
            lost_percent,
            ..Noise::default()
        };
        let chosen = |all: &[Noise]| quietest(all);
        assert_eq!(
            chosen(&[of(0, Some(20.0), 0.1), of(1, Some(60.0), 0.9)]),
            Some(1)
        );
        assert_eq!(
            chosen(&[of(0, Some(58.0), 0.1), of(1, Some(60.0), 0.9)]),
            Some(0)
        );
        assert_eq!(chosen(&[of(0, None, 0.1), of(1, None, 0.1)]), Some(1));
        assert_eq!(chosen(&[]), None);
    }
}
