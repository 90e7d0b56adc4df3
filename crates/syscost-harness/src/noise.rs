//! The noise probe: what the machine does to a program that only reads the clock and probes its
//! core.
//!
//! The method of hwlat and osnoise, from user space: a pinned loop reads the clock and records
//! every gap that is longer than a reading can explain. In a virtual machine the host's
//! interference shows up here as well. Between two readings it checks whether the core does other
//! work, which causes no gap and takes more time than all gaps together.

use std::mem;
use std::thread;
use std::time::Duration;

use syscost_results::run::Noise;
use syscost_sys::clock::{Clock, Gaps, LONG_GAP_NS};
use syscost_sys::core_probe::{Probe, Shape};
use syscost_sys::cpu;

use crate::cores::Heard;

/// One probe in this many is kept: more would add no information.
const KEPT: u64 = 8;

/// After one probe in this many a longer chain is timed, which takes as long as two probes.
const LONG_CHAINS: u64 = 64;

/// Maximum number of these per CPU: room for them is taken before, as for probes.
const MAX_LONG_CHAINS: usize = 1 << 14;

/// Maximum number of probes kept per CPU.
const MAX_READINGS: usize = 1 << 17;

/// If the shares of time in which two cores were ours differ by less than this, in percent, neither
/// is preferred for it.
const ALIKE: f64 = 5.0;

/// Probes these CPUs for `time` in total: all cores simultaneously, but hardware threads of one
/// core one after the other, since each would interfere with the other. The clock's rate need only
/// be approximately right.
pub fn probe(cpus: &[u32], clock: &Clock, shape: Shape, time: Duration) -> Vec<Heard> {
    let turns = turns(cpus, cpu::siblings);
    let time = time / turns.len().max(1) as u32;
    let mut heard: Vec<Heard> = Vec::new();
    for turn in turns {
        heard.extend(thread::scope(|scope| {
            let probes: Vec<_> = turn
                .into_iter()
                .filter_map(|number| {
                    // Where no thread can be started, nothing is heard.
                    let probe = move || probe_one(number, *clock, shape, time);
                    thread::Builder::new().spawn_scoped(scope, probe).ok()
                })
                .collect();
            let heard = probes.into_iter().filter_map(|probe| probe.join().ok()?);
            heard.collect::<Vec<Heard>>()
        }));
    }
    heard.sort_by_key(|one| one.noise.cpu);
    heard
}

/// Splits these CPUs into as few turns as possible so that no two of a turn share a core.
fn turns(cpus: &[u32], siblings: impl Fn(u32) -> Vec<u32>) -> Vec<Vec<u32>> {
    let mut turns: Vec<Vec<u32>> = Vec::new();
    for &number in cpus {
        let siblings = siblings(number);
        let is_free = |turn: &&mut Vec<u32>| !turn.iter().any(|other| siblings.contains(other));
        match turns.iter_mut().find(is_free) {
            Some(turn) => turn.push(number),
            None => turns.push(vec![number]),
        }
    }
    turns
}

/// A probe takes up to this many times as long while the core is shared, and a longer chain may follow.
const MAX_SLOWDOWN: f64 = 4.0;

/// What a probe takes, in ns: the shortest of a few. With a coarse clock that is longer than a gap.
fn probe_ns(probe: &Probe, clock: &Clock) -> f64 {
    let time = |_| {
        let start = clock.start();
        probe.read();
        clock.to_ns(clock.stop().ticks.saturating_sub(start))
    };
    (0..16).map(time).fold(f64::INFINITY, f64::min)
}

fn probe_one(number: u32, clock: Clock, shape: Shape, time: Duration) -> Option<Heard> {
    cpu::pin(number).ok()?;
    let ticks_per_ns = clock.ticks_per_ns();
    let length_ns = time.as_nanos() as f64;
    let probe = Probe::new(clock, shape);
    let mut readings = Vec::with_capacity(MAX_READINGS);
    let mut long_chains = Vec::with_capacity(MAX_LONG_CHAINS);
    let mut count: u64 = 0;
    let lost_ns = LONG_GAP_NS + MAX_SLOWDOWN * probe_ns(&probe, &clock);
    let (lost_ticks, mut last) = ((lost_ns * ticks_per_ns) as u64, u64::MAX);
    let gaps = Gaps::listen(ticks_per_ns, length_ns, lost_ns, || {
        let reading = probe.read();
        let now = clock.start();
        let took = now.saturating_sub(mem::replace(&mut last, now));
        if took > lost_ticks {
            // Another program ran on this CPU meanwhile; that says nothing about its core.
            return now;
        }
        count += 1;
        if count.is_multiple_of(KEPT) && readings.len() < MAX_READINGS {
            readings.push(reading);
        }
        if count.is_multiple_of(LONG_CHAINS) && long_chains.len() < MAX_LONG_CHAINS {
            long_chains.push(probe.long_chain(reading));
        }
        now
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
        readings,
        long_chains,
        probe,
    })
}

/// The best of the probed CPUs: the one whose core was ours for most of the time; where that is
/// unknown or hardly differs, the one that lost the least time. CPU 0, which serves most
/// interrupts, loses a tie.
pub fn quietest(noise: &[Noise]) -> Option<u32> {
    let own = |one: &Noise| one.ours_percent().unwrap_or(100.0 - one.lost_percent);
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
    fn hardware_threads_of_one_core_take_turns() {
        // CPUs 0 and 4, 1 and 5 and so on share a core.
        let siblings = |cpu: u32| vec![(cpu + 4) % 8];
        assert_eq!(
            turns(&[0, 1, 2, 4, 5, 6, 7], siblings),
            [vec![0, 1, 2, 7], vec![4, 5, 6]]
        );
        assert_eq!(turns(&[3, 1], |_| Vec::new()), [vec![3, 1]]);
        assert!(turns(&[], siblings).is_empty());
    }

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
        // What another program has is not ours.
        assert_eq!(
            chosen(&[of(0, Some(99.0), 90.0), of(1, Some(80.0), 0.1)]),
            Some(1)
        );
        assert_eq!(chosen(&[of(0, None, 0.1), of(1, None, 0.1)]), Some(1));
        assert_eq!(chosen(&[]), None);
    }
}
